# Tells which command lines the real vw accepts: one JSON list of arguments per
# line of stdin, "ok" or "error ..." per line of stdout.
import json
import sys

import vowpalwabbit

for line in sys.stdin:
    try:
        vowpalwabbit.Workspace(arg_list=["--quiet", "--no_stdin"] + json.loads(line)).finish()
        print("ok", flush=True)
    except Exception as e:
        print("error " + str(e).replace("\n", " "), flush=True)
