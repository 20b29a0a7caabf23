#!/bin/sh
# The id is the first member of a line, and the payload is the last.
while read -r line; do
    id=${line#'{"id":"'}
    payload=${line#*',"payload":'}
    printf '{"id":"%s","ok":true,"result":%s}\n' "${id%%\"*}" "${payload%\}}"
done
