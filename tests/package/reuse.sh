#!/bin/sh
# reuse.sh SAME COMMAND...: a compiler launcher that copies the object file that COMMAND would make from the folder SAME,
# if reuse.py found it there, and else runs COMMAND. (A shell starts in a hundredth of the time of Python, for each of 170
# files.)
same=$1
shift
last='' output='' depends='' source=''
for word; do
  case $last in
    -o) output=$word ;;
    -MF) depends=$word ;;
    -c) source=$word ;;
  esac
  last=$word
done
if [ -z "$output" ] || [ ! -e "$same/$output" ]; then exec "$@"; fi
cp -L -- "$same/$output" "$output" && echo "$output: $source" >"$depends"
