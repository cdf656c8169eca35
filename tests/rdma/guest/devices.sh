#!/bin/busybox sh
# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=dash
#
# Creates the missing ones of the guest's two Soft-RoCE devices and the cable between them, and
# waits until they can be used. Tests that take them away run it.
/bin/ip link show veth0 >/dev/null 2>&1 || /bin/ip link add veth0 type veth peer name veth1
for i in all veth0 veth1; do
	# Both ends are this kernel's own addresses; packets are to cross the cable all the same.
	echo 1 >"/proc/sys/net/ipv4/conf/$i/accept_local"
	echo 0 >"/proc/sys/net/ipv4/conf/$i/rp_filter"
done
for i in 0 1; do
	/bin/ip link set "veth$i" mtu 4200 up # room for packets of 4096 bytes
	/bin/ip addr replace "10.77.0.$((i + 1))/24" dev "veth$i"
	[ -e "/sys/class/infiniband/rxe$i" ] || /bin/rdma link add "rxe$i" type rxe netdev "veth$i" || exit 1
done
tries=0
until [ "$(cat /sys/class/infiniband/rxe*/ports/1/state | grep -c ACTIVE)" = 2 ] &&
	[ "$(cat /sys/class/infiniband/rxe*/ports/1/gids/* | grep -c ffff:0a4d:000)" = 2 ]; do
	tries=$((tries + 1))
	if [ $tries -gt 300 ]; then
		echo "the devices do not become active"
		exit 1
	fi
	usleep 100000
done
