#!/bin/busybox sh
# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=dash
#
# The first process of the guest: two Soft-RoCE devices, then /command.
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
/bin/ip link add veth0 type veth peer name veth1
for i in all veth0 veth1; do
	# Both ends are this kernel's own addresses; packets are to cross the cable all the same.
	echo 1 >"/proc/sys/net/ipv4/conf/$i/accept_local"
	echo 0 >"/proc/sys/net/ipv4/conf/$i/rp_filter"
done
for i in 0 1; do
	/bin/ip link set "veth$i" mtu 4200 up # room for packets of 4096 bytes
	/bin/ip addr add "10.77.0.$((i + 1))/24" dev "veth$i"
	/bin/rdma link add "rxe$i" type rxe netdev "veth$i" || give_up "no device rxe$i"
done
tries=0
until [ "$(cat /sys/class/infiniband/rxe*/ports/1/state | grep -c ACTIVE)" = 2 ] &&
	[ "$(cat /sys/class/infiniband/rxe*/ports/1/gids/* | grep -c ffff:0a4d:000)" = 2 ]; do
	tries=$((tries + 1))
	[ $tries -gt 300 ] && give_up "the devices do not become active"
	usleep 100000
done
ulimit -l unlimited
cd /tmp || give_up "no /tmp"
/bin/sh /command
echo "guest-exit $?"
poweroff -f
