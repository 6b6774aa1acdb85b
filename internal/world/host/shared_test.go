package host

import (
	"cmp"
	"maps"
	"path"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/firstlight/firstlight/internal/world"
)

// readers are commands of every program. NETDEV is the network device of an adapter, if it has one.
var readers = []string{
	"nvidia-smi -q -x", "nvidia-smi -L", "nvidia-smi nvlink -s", "nvidia-smi nvlink -e", "nvidia-smi topo -m",
	"nvidia-smi --query-gpu=index,uuid,name,temperature.gpu,power.draw,clocks_event_reasons.active --format=csv",
	"nvidia-smi --query-remapped-rows=remapped_rows.pending,remapped_rows.failure --format=csv,noheader",
	"nvidia-smi --query-compute-apps=pid,process_name,used_memory --format=csv,noheader",
	"dcgmi diag -r 3 -j", "dcgmi diag -r 1", "dcgmi discovery -l", "dcgmi nvlink -s", "nv-fabricmanager --version", "nvidia-imex-ctl -N -j",
	"systemctl show nvidia-fabricmanager.service -p ActiveState", "readlink /proc/self/ns/pid",
	"ibstat", "ibv_devinfo -v", "sminfo", "iblinkinfo", "iblinkinfo -l", "ibqueryerrors", "ibdiagnet", "ibnetdiscover", "dmesg", "lspci -D -vvv -d ::0604",
	"ethtool -S NETDEV", "fi_info -p efa", "mlnx_qos -i NETDEV", "dcb -j pfc show dev NETDEV", "dcb -j app show dev NETDEV", "ip -j addr show",
	"uname -r", "hostname", "cat /proc/meminfo", "cat /sys/class/infiniband/mlx5_0/ports/1/state",
	"grep -Hs . /sys/class/infiniband/*/device/current_link_* /sys/class/infiniband/*/device/max_link_*",
	"date", "ls -d /sys/module/nvidia", "command -v nvidia-smi", "echo x", "true", "false",
}

// Commands share the state of the world and do not change it: on each kind of hardware, with each fault.
func TestCommandsDoNotChangeTheState(t *testing.T) {
	t.Parallel()
	have := map[string]bool{}
	for _, line := range readers {
		have[path.Base(strings.Fields(line)[0])] = true
	}
	for _, program := range slices.Sorted(maps.Keys(tools())) {
		if !have[program] {
			t.Errorf("no command of %s is run", program)
		}
	}
	var worked sync.Map // by command
	t.Run("worlds", func(t *testing.T) {
		t.Parallel()
		for _, hardware := range world.HardwareKinds() {
			t.Run(hardware, func(t *testing.T) {
				t.Parallel()
				readAll(t, stateOf(t, hardware, 2), &worked)
			})
		}
		for _, k := range append(world.Catalogue(), world.Variations()...) {
			t.Run(k.Kind, func(t *testing.T) {
				t.Parallel()
				readAll(t, stateOf(t, k.Hardware(), 4, world.Fault{Kind: k.Kind}), &worked)
			})
		}
	})
	t.Cleanup(func() {
		for _, line := range readers {
			if _, ok := worked.Load(line); ok == (line == "false") {
				t.Errorf("%s: worked on a host: %t", line, ok)
			}
		}
	})
}

// readAll runs the commands on the second node, a target of most faults, and adds those that worked.
func readAll(t *testing.T, s world.State, worked *sync.Map) {
	t.Helper()
	n := s.Nodes[1]
	netdev := "eth0"
	if len(n.HCAs) > 0 {
		netdev = cmp.Or(n.HCAs[0].Ethernet.Netdev, netdev)
	}
	for _, line := range readers {
		if _, _, exit := run(t, s, n.Name, strings.ReplaceAll(line, "NETDEV", netdev)); exit == 0 {
			worked.Store(line, true)
		}
	}
}
