#!/bin/busybox sh
# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=dash
#
# The first process of the guest: two Soft-RoCE devices (/devices), then /command.
/bin/busybox mv /bin/ip /bin/rdma /root
/bin/busybox --install -s /bin
mv /root/ip /root/rdma /bin
export PATH=/bin HOME=/root TMPDIR=/tmp GVW_RDMA_GUEST=1
mount -t proc none /proc
mount -t sysfs none /sys
mount -t devtmpfs none /dev
mount -t tmpfs -o mode=1777 none /tmp
mkdir -p /dev/shm
ln -s /proc/self/fd /dev/fd
stty -F /dev/ttyS1 raw -echo
exec >/dev/ttyS1 2>&1 </dev/null

give_up() {
	echo "guest: $*"
	echo "guest-exit 125"
	poweroff -f
}

while read -r m; do
	insmod "/modules/$m" || give_up "cannot load $m"
done </modules/order
/bin/ip link set lo up
/bin/sh /devices || give_up "no devices"
ulimit -l unlimited
cd /tmp || give_up "no /tmp"
/bin/sh /command
echo "guest-exit $?"
poweroff -f
