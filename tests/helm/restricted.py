"""The level `restricted` of the Pod Security Standards, field by field:
https://kubernetes.io/docs/concepts/security/pod-security-standards/#restricted"""

VOLUMES = {"configMap", "csi", "downwardAPI", "emptyDir", "ephemeral", "persistentVolumeClaim",
           "projected", "secret"}
SECCOMP = {"RuntimeDefault", "Localhost"}


def violations(spec):
    """Each rule that a pod spec breaks, in words."""
    pod = spec.get("securityContext", {})
    found = [f"{field} is set" for field in ("hostNetwork", "hostPID", "hostIPC", "hostUsers")
             if spec.get(field)]
    found += [f"sysctl {each['name']}" for each in pod.get("sysctls", [])]
    for volume in spec.get("volumes", []):
        kinds = volume.keys() - {"name"} - VOLUMES
        found += [f"volume {volume['name']} is a {kind}" for kind in kinds]
    for kind in ("initContainers", "containers", "ephemeralContainers"):
        for container in spec.get(kind, []):
            found += [f"{container['name']}: {each}" for each in _of_container(container, pod)]
    return found


def _of_container(container, pod):
    own = container.get("securityContext", {})
    effective = pod | own
    capabilities = own.get("capabilities", {})
    if own.get("privileged"):
        yield "is privileged"
    if own.get("allowPrivilegeEscalation") is not False:
        yield "may gain privileges"
    if effective.get("runAsNonRoot") is not True:
        yield "may run as root"
    if effective.get("runAsUser") == 0:
        yield "runs as root"
    if effective.get("seccompProfile", {}).get("type") not in SECCOMP:
        yield "has no seccomp profile"
    if "ALL" not in capabilities.get("drop", []):
        yield "keeps capabilities"
    if set(capabilities.get("add", [])) - {"NET_BIND_SERVICE"}:
        yield f"adds capabilities {capabilities['add']}"
    if own.get("procMount", "Default") != "Default":
        yield "has an unmasked /proc"
    if effective.get("seLinuxOptions") or effective.get("appArmorProfile"):
        yield "changes SELinux or AppArmor"
    if any("hostPort" in port for port in container.get("ports", [])):
        yield "takes a port of the host"
