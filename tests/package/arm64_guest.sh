#!/bin/busybox sh
# SPDX-License-Identifier: Apache-2.0
# The first and only process of the machine of arm64_machine.py. Each line with an "=" is read there.
export PATH=/bin
/bin/busybox --install -s /bin
mount -t proc proc /proc
mount -t sysfs sys /sys
mount -t devtmpfs dev /dev
ip link set lo up
echo "machine=$(uname -m)"
echo "page=$(grep -m1 KernelPageSize /proc/self/smaps | tr -dc 0-9)"
railhead --version >/tmp/out 2>&1
echo "version=$?:$(cat /tmp/out)"
railhead topology --snapshot /node >/tmp/out 2>&1
echo "topology=$?:$(md5sum </tmp/out | cut -c1-32)"
railhead doctor --snapshot /node >/tmp/out 2>&1
echo "doctor=$?:$(tail -n1 /tmp/out)"
railhead doctor >/tmp/out 2>&1
echo "here=$?:$(tail -n1 /tmp/out)"
railhead snapshot /tmp/here.node >/tmp/out 2>&1
echo "snapshot=$?:$(grep -c ' /proc/cpuinfo ' /tmp/here.node)"
mkdir /run
railhead agent --snapshot /node --nri-socket /run/nri.sock --device-plugin=false --bind-address 127.0.0.1:9479 2>/tmp/log &
agent=$!
tries=0
until wget -q -O /tmp/out http://127.0.0.1:9479/metrics && grep -q '^railhead_node_gpus 8' /tmp/out; do
  tries=$((tries + 1))
  [ $tries -lt 60 ] || break
  sleep 1
done
echo "gpus=$(grep -c '^railhead_node_gpus 8' /tmp/out)"
echo "rss=$(grep VmRSS /proc/$agent/status | tr -dc 0-9)"
kill $agent
wait $agent
echo "agent=$?"
tail -n 3 /tmp/log
poweroff -f
