#!/bin/sh
# Installs the real clients that the tests talk to, each into <folder>/<name>, from their package registry (about 1 GB).
# What cannot be installed is said loudly; the tests then count as skipped.
# More names after the folder: only these.
folder=$1
shift
command -v npm >/dev/null || { echo "NOT INSTALLED: no npm on the PATH, so no real client is tested" >&2; exit 0; }
while read -r name package; do
  case " ${*:-$name} " in *" $name "*) ;; *) continue ;; esac
  [ "$(cat "$folder/$name/.installed" 2>/dev/null)" = "$package" ] && continue
  mkdir -p "$folder/$name"
  if npm install --prefix "$folder/$name" --no-audit --no-fund --loglevel=error "$package"; then
    echo "$package" >"$folder/$name/.installed"
  else
    echo "NOT INSTALLED: $package; its tests are skipped" >&2
  fi
done <<PACKAGES
claude @anthropic-ai/claude-code@2.1.332
codex @openai/codex@0.171.0
gemini @google/gemini-cli@0.61.0
opencode opencode-ai@1.18.33
opencode-plugin @opencode-ai/plugin@1.18.33
PACKAGES
