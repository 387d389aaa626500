#!/bin/sh
# missing.sh SUITE.CONFIGURATION REASON: stands in for a suite whose driver is not installed.
echo "TENON-SKIP suite=${1%.*} reason=$2"
echo "TENON-MISSING $1"
exit 77
