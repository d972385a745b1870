# copy-models FROM TO: each model that TO has not got, whole or not at all; pods may do so at once.
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
