# copy-models FROM TO: copies each model that TO lacks, completely or not at all; several pods may run it at once.
for source in "$1"/*/; do
  [ -d "$source" ] || { echo "no models in $1"; exit 1; }
  model=$2/$(basename "$source")
  if [ -e "$model" ]; then continue; fi
  echo "copying $source to $model"
  part=$2/.part-$(basename "$source")-$HOSTNAME
  rm -rf "$part"
  cp -rL "$source" "$part"
  mv -T "$part" "$model" || [ -e "$model" ]
  rm -rf "$part"
done
