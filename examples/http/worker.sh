#!/bin/sh
# A worker over HTTP, with curl and jq: worker.sh [QUEUE]
#
# TASKHARBOR_URL says where thd listens, TASKHARBOR_TOKEN has its token if there is one.
set -eu
url=${TASKHARBOR_URL:-http://127.0.0.1:7460}
queue=${1:-default}
lease=30 # seconds; a third of it passes between two heartbeats
answer=$(mktemp)
trap 'rm -f "$answer" "$answer.beat"' EXIT
trap 'exit 0' TERM INT

# The body of what is posted is on standard input; prints the status, leaves the answer in $2. Whoever does not
# answer is asked again: every call may be repeated.
post() {
    body=$(cat)
    while :; do
        status=$(printf %s "$body" | curl -s -o "$2" -w '%{http_code}' -H 'Content-Type: application/json' \
            ${TASKHARBOR_TOKEN:+-H "Authorization: Bearer $TASKHARBOR_TOKEN"} --data-binary @- "$url$1") || status=000
        case $status in 000 | 429 | 503) sleep 1 ;; *) break ;; esac
    done
    echo "$status"
}

hello() {
    jq '{greeting: "hello \(.payload.name)"}'
}

# Keeps the lease of the job until it is killed, or the lease is lost.
beat() {
    while sleep $((lease / 3)); do
        [ "$(jq -n --arg token "$2" '{lease_token: $token}' | post "/api/jobs/$1/heartbeat" "$answer.beat")" = 200 ] || exit
    done
}

while :; do
    status=$(jq -n --arg worker "$(hostname)-$$" --arg queue "$queue" --argjson lease "$lease" \
        '{worker: $worker, queues: [$queue], types: ["hello"], lease: $lease, wait: 20}' | post /api/claim "$answer")
    case $status in
    204) continue ;;
    200) ;;
    *) jq -r .message "$answer" >&2 && exit 1 ;;
    esac
    job=$(jq -c '.jobs[0]' "$answer")
    id=$(printf %s "$job" | jq -r .id)
    token=$(printf %s "$job" | jq -r .lease_token)
    beat "$id" "$token" &
    beats=$!
    if result=$(printf %s "$job" | hello 2>&1); then
        status=$(jq -n --arg token "$token" --argjson result "$result" '{lease_token: $token, result: $result}' |
            post "/api/jobs/$id/complete" "$answer")
    else
        status=$(jq -n --arg token "$token" --arg error "$result" '{lease_token: $token, error: $error}' |
            post "/api/jobs/$id/fail" "$answer")
    fi
    kill "$beats" 2>/dev/null || :
    [ "$status" = 200 ] || jq -r .message "$answer" >&2
done
