package host

import (
	"strings"
	"testing"

	"github.com/firstlight/firstlight/internal/world"
)

// sight is a command on a node and a part of its output that only the fault causes.
type sight struct {
	node, command, want string
	exit                int
}

// pkeysOf is the command that searches an adapter's P_Key table.
func pkeysOf(hca string) string {
	return "grep -rHvx 0x0000 /sys/class/infiniband/" + hca + "/ports/1/pkeys"
}

func TestFaultSymptoms(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		fault  world.Fault
		sights []sight
	}{
		"link-down": {world.Fault{Kind: "link-down"}, []sight{
			{"gpu-02", "ibstat mlx5_3", "State: Down\n\t\tPhysical state: Polling\n\t\tRate: 10", 0},
			{"gpu-01", "iblinkinfo", "8    2[  ] ==(                Down/ Polling)==>", 0},
			{"gpu-01", "ibdiagnet", "Total Nodes             : 43", 0},
			{"gpu-02", "dmesg", "0000:5e:00.0: Port module event: module 0, Cable unplugged", 0},
			{"gpu-02", "cat /sys/class/infiniband/mlx5_3/ports/1/state", "1: DOWN", 0},
		}},
		"uplink down": {world.Fault{Kind: "link-down", Target: "leaf-3/33"}, []sight{
			{"gpu-01", "iblinkinfo", "8   33[  ] ==(                Down/ Polling)==>", 0},
			{"gpu-01", "iblinkinfo", "1    4[  ] ==(                Down/ Polling)==>", 0},
		}},
		"link-degraded rate": {world.Fault{Kind: "link-degraded"}, []sight{
			{"gpu-02", "ibstat mlx5_3", "Rate: 200", 0},
			{"gpu-01", "iblinkinfo", `==( 4X        53.125 Gbps Active/  LinkUp)==>       8    2[  ] "leaf-3" ( Could be 106.25 Gbps)`, 0},
			{"gpu-01", "iblinkinfo", `==( 4X        53.125 Gbps Active/  LinkUp)==>      24    1[  ] "gpu-02 mlx5_3" ( Could be 106.25 Gbps)`, 0},
			{"gpu-01", "ibdiagnet", "Unexpected actual link speed 50", 0},
			{"gpu-01", "ibdiagnet", "-I- Speed / Width checks                0          1", 0},
			{"gpu-02", "cat /sys/class/infiniband/mlx5_3/ports/1/rate", "200 Gb/sec (4X HDR)", 0},
		}},
		"link-degraded width": {world.Fault{Kind: "link-degraded", Options: map[string]string{"how": "width"}}, []sight{
			{"gpu-02", "ibstat mlx5_3", "Rate: 200", 0},
			{"gpu-01", "iblinkinfo", `( 2X        106.25 Gbps Active/  LinkUp)==>       8    2[  ] "leaf-3" (Could be 4X )`, 0},
			{"gpu-01", "ibdiagnet", "Unexpected actual link width 2x", 0},
		}},
		"link-flapping": {world.Fault{Kind: "link-flapping"}, []sight{
			{"gpu-01", "ibqueryerrors", "[SymbolErrorCounter == 115] [LinkErrorRecoveryCounter == 17] [LinkDownedCounter == 17]", 1},
			{"gpu-02", "dmesg", "Lost carrier", 0},
			{"gpu-01", "ibdiagnet", "link_down_counter", 0},
		}},
		"link-ber": {world.Fault{Kind: "link-ber"}, []sight{
			{"gpu-01", "ibqueryerrors", "port 1: [PortRcvErrors == 14] [PortRcvRemotePhysicalErrors == 800] [PortXmitWait", 1},
			{"gpu-01", "ibqueryerrors", "port 2: [PortRcvErrors == 14] [PortRcvRemotePhysicalErrors == 800] [PortXmitWait", 1},
		}},
		"link-ber local": {world.Fault{Kind: "link-ber", Options: map[string]string{"counter": "LocalLinkIntegrityErrors"}}, []sight{
			{"gpu-01", "ibqueryerrors", "[LocalLinkIntegrityErrors == 800]", 1},
		}},
		"rails-swapped": {world.Fault{Kind: "rails-swapped"}, []sight{
			{"gpu-01", "iblinkinfo", ` 5    2[  ] ==( 4X        106.25 Gbps Active/  LinkUp)==>      22    1[  ] "gpu-02 mlx5_1"`, 0},
			{"gpu-01", "iblinkinfo", ` 6    2[  ] ==( 4X        106.25 Gbps Active/  LinkUp)==>      21    1[  ] "gpu-02 mlx5_0"`, 0},
		}},
		"cables-swapped": {world.Fault{Kind: "cables-swapped"}, []sight{
			{"gpu-01", "iblinkinfo", ` 5    2[  ] ==( 4X        106.25 Gbps Active/  LinkUp)==>      30    1[  ] "gpu-03 mlx5_1"`, 0},
			{"gpu-01", "iblinkinfo", ` 6    3[  ] ==( 4X        106.25 Gbps Active/  LinkUp)==>      21    1[  ] "gpu-02 mlx5_0"`, 0},
		}},
		"nic-firmware-mixed": {world.Fault{Kind: "nic-firmware-mixed"}, []sight{
			{"gpu-02", "ibstat mlx5_3", "Firmware version: 28.38.1002", 0},
			{"gpu-02", "ibv_devinfo -d mlx5_3", "fw_ver:\t\t\t\t28.38.1002", 0},
			{"gpu-02", "cat /sys/class/infiniband/mlx5_3/fw_ver", "28.38.1002", 0},
			{"gpu-01", "ibdiagnet", "-W- gpu-02/mlx5_3 - Node with Devid:4129(0x1021),PSID:MT_0000000838 has FW version 28.38.1002 while the latest FW version for the same Devid/PSID on this fabric is 28.39.1002", 0},
			{"gpu-01", "ibdiagnet", "-I- Nodes Information                   1          0", 0},
		}},
		"mtu-mismatch": {world.Fault{Kind: "mtu-mismatch"}, []sight{
			{"gpu-02", "ibv_devinfo -d mlx5_3", "max_mtu:\t\t4096 (5)\n\t\t\tactive_mtu:\t\t2048 (4)", 0},
		}},
		"pkey-missing": {world.Fault{Kind: "pkey-missing"}, []sight{
			{"gpu-02", "cat /sys/class/infiniband/mlx5_3/ports/1/pkeys/1", "0x0000", 0},
		}},
		"guid-duplicate": {world.Fault{Kind: "guid-duplicate"}, []sight{
			{"gpu-01", "ibdiagnet", "Duplicated GUIDs detection finished with errors", 0},
			{"gpu-01", "ibdiagnet", "-I- Discovery                           0          1", 0},
			{"gpu-01", "ibdiagnet", "IB Channel Adapters     : 31", 0},
		}},
		"sm-dead": {world.Fault{Kind: "sm-dead"}, []sight{
			{"gpu-01", "sminfo", "sminfo: iberror: failed: query", 255},
			{"gpu-01", "ibdiagnet", "Missing master SM", 0},
		}},
		"sm-dead uninitialised": {world.Fault{Kind: "sm-dead", Options: map[string]string{"how": "uninitialised"}}, []sight{
			{"gpu-04", "ibstat", "State: Initializing\n\t\tPhysical state: LinkUp", 0},
			{"gpu-01", "iblinkinfo", "106.25 Gbps Initialize/  LinkUp", 0},
			{"gpu-01", "ibdiagnet", "ZERO lid", 0},
		}},
		"sm-two-masters": {world.Fault{Kind: "sm-two-masters"}, []sight{
			{"gpu-01", "sminfo 2", "priority 14 state 3 SMINFO_MASTER", 0},
			{"gpu-01", "ibstat mlx5_1", "SM lid: 2", 0},
			{"gpu-01", "ibdiagnet", "Found more than one master SM", 0},
		}},
		"gpu-off-bus": {world.Fault{Kind: "gpu-off-bus"}, []sight{
			{"gpu-03", "nvidia-smi -q -x", "<attached_gpus>7</attached_gpus>", 15},
			{"gpu-03", "nvidia-smi -q -x", "Unable to determine the device handle for GPU0000:C3:00.0: Unknown Error", 15},
			{"gpu-03", "dmesg", "NVRM: Xid (PCI:0000:c3:00): 79, pid='<unknown>', name=<unknown>, GPU has fallen off the bus.", 0},
			{"gpu-03", "dcgmi diag -r 3 -j", "GPU 5 has fallen off the bus", 205},
		}},
		"gpu-count-short": {world.Fault{Kind: "gpu-count-short"}, []sight{
			{"gpu-02", "nvidia-smi -q -x", "<attached_gpus>7</attached_gpus>", 0},
			{"gpu-02", "dcgmi discovery -l", "7 GPUs found.", 0},
		}},
		"gpu-model": {world.Fault{Kind: "gpu-model"}, []sight{
			{"gpu-02", "nvidia-smi -q -x", "<product_name>NVIDIA H200</product_name>", 0},
			{"gpu-02", "dcgmi discovery -l", "Name: NVIDIA H200", 0},
		}},
		"gpu-model with fewer GPUs": {world.Fault{Kind: "gpu-model", Options: map[string]string{"model": "l40s", "gpus": "4"}}, []sight{
			{"gpu-02", "nvidia-smi -q -x", "<attached_gpus>4</attached_gpus>", 0},
			{"gpu-02", "nvidia-smi -L", "GPU 3: NVIDIA L40S", 0},
		}},
		"ecc-uncorrectable": {world.Fault{Kind: "ecc-uncorrectable"}, []sight{
			{"gpu-02", "nvidia-smi -q -x", "<dram_uncorrectable>1</dram_uncorrectable>", 0},
			{"gpu-02", "dmesg", "Xid (PCI:0000:43:00): 48,", 0},
			{"gpu-02", "dcgmi diag -r 3 -j", "Detected 1 volatile double-bit ECC error(s) in GPU 1.", 205},
		}},
		"ecc-uncorrectable sram": {world.Fault{Kind: "ecc-uncorrectable", Options: map[string]string{"memory": "sram"}}, []sight{
			{"gpu-02", "nvidia-smi -q -x", "<sram_uncorrectable_parity>1</sram_uncorrectable_parity>", 0},
		}},
		"row-remap-pending": {world.Fault{Kind: "row-remap-pending"}, []sight{
			{"gpu-02", "nvidia-smi -q -x", "<remapped_row_pending>Yes</remapped_row_pending>", 0},
			{"gpu-02", "nvidia-smi --query-remapped-rows=gpu_uuid,remapped_rows.pending --format=csv,noheader", ", 1\n", 0},
			{"gpu-02", "dmesg", "Xid (PCI:0000:43:00): 63,", 0},
			{"gpu-02", "dcgmi diag -r 3 -j", "\"error_id\": 85", 226},
			{"gpu-02", "dcgmi diag -r 3 -j", "\"status\": \"Skip\"", 226},
		}},
		"row-remap failed": {world.Fault{Kind: "row-remap-pending", Options: map[string]string{"how": "failure"}}, []sight{
			{"gpu-02", "nvidia-smi -q -x", "<remapped_row_failure>Yes</remapped_row_failure>", 0},
			{"gpu-02", "dmesg", "Xid (PCI:0000:43:00): 64,", 0},
		}},
		"rows-remapped": {world.Fault{Kind: "rows-remapped"}, []sight{
			{"gpu-02", "nvidia-smi -q -x", "<remapped_row_corr>600</remapped_row_corr>\n\t\t\t<remapped_row_unc>0</remapped_row_unc>\n\t\t\t<remapped_row_pending>No<", 0},
		}},
		"rows-remapped after uncorrectable errors": {world.Fault{Kind: "rows-remapped", Options: map[string]string{"after": "uncorrectable"}}, []sight{
			{"gpu-02", "nvidia-smi --query-remapped-rows=remapped_rows.uncorrectable,remapped_rows.pending --format=csv,noheader", "600, 0\n", 0},
		}},
		"thermal-throttle": {world.Fault{Kind: "thermal-throttle"}, []sight{
			{"gpu-04", "nvidia-smi -q -x", "<clocks_event_reason_hw_thermal_slowdown>Active<", 0},
			{"gpu-04", "nvidia-smi -q -x", "<clocks_event_reasons_counters_hw_therm_slowdown>3800000 us<", 0},
			{"gpu-04", "dcgmi diag -r 3 -j", "There were thermal violations totaling 3.8 seconds for GPU 2", 226},
		}},
		"clocks-capped": {world.Fault{Kind: "clocks-capped"}, []sight{
			{"gpu-01", "nvidia-smi -q -x", "<sm_clock>1410 MHz</sm_clock>", 0},
			{"gpu-01", "nvidia-smi --query-gpu=clocks.max.sm --format=csv,noheader", "1410 MHz", 0},
		}},
		"clocks-capped by applications clocks": {world.Fault{Kind: "clocks-capped", Options: map[string]string{"by": "applications"}}, []sight{
			{"gpu-01", "nvidia-smi -q -x", "<applications_clocks>\n\t\t\t<graphics_clock>1410 MHz</graphics_clock>", 0},
		}},
		"power-capped": {world.Fault{Kind: "power-capped"}, []sight{
			{"gpu-01", "nvidia-smi -q -x", "<current_power_limit>500.00 W</current_power_limit>", 0},
			{"gpu-01", "dcgmi diag -r 3 -j", "Enforced power limit on GPU 6 set to 500.0", 0},
		}},
		"driver-mismatch": {world.Fault{Kind: "driver-mismatch"}, []sight{
			{"gpu-03", "nvidia-smi -q -x", "<driver_version>570.124.06</driver_version>", 0},
			{"gpu-03", "dmesg", "570.124.06", 0},
			{"gpu-03", "dcgmi diag -r 1 -j", "570.124.06", 0},
		}},
		"driver library mismatch": {world.Fault{Kind: "driver-mismatch", Options: map[string]string{"how": "library"}}, []sight{
			{"gpu-03", "nvidia-smi -q -x", "Failed to initialize NVML: Driver/library version mismatch", 18},
			{"gpu-03", "dcgmi diag -r 1 -j", "unable to establish a connection", 248},
		}},
		// NVIDIA/DCGM issue 94: the diagnostic does not run on divided GPUs, and exits with NVVS_ERROR.
		"mig-undeclared": {world.Fault{Kind: "mig-undeclared", Options: map[string]string{"strategy": "single"}}, []sight{
			{"gpu-02", "dcgmi diag -r 3 -j", "\"runtime_error\": \"GPU 0's MIG configuration is incompatible with the diagnostic", 226},
			{"gpu-02", "dcgmi diag -r 1", "GPU 7's MIG configuration is incompatible with the diagnostic", 226},
			{"gpu-02", "nvidia-smi -q -x", "<gpu_util>N/A</gpu_util>", 0},
			{"gpu-02", "nvidia-smi --query-gpu=index,utilization.gpu --format=csv", "0, [N/A]\n", 0},
		}},
		"pcie-gen-degraded": {world.Fault{Kind: "pcie-gen-degraded"}, []sight{
			{"gpu-03", "nvidia-smi -q -x", "<max_link_gen>5</max_link_gen>\n\t\t\t\t\t<current_link_gen>3</current_link_gen>", 0},
			{"gpu-03", "nvidia-smi --query-gpu=pcie.link.gen.current --format=csv,noheader", "3\n", 0},
			{"gpu-03", "dcgmi diag -r 3 -j -p pcie.h2d_d2h_single_pinned.min_pci_generation=5", "GPU 4 is running at PCI link generation 3, which is below the minimum allowed link generation of 5", 226},
		}},
		"pcie-gen-degraded below DCGM's own limit": {world.Fault{Kind: "pcie-gen-degraded", Options: map[string]string{"generation": "2"}}, []sight{
			{"gpu-03", "dcgmi diag -r 3 -j", "minimum allowed link generation of 3", 226},
		}},
		"pcie-gen-degraded width": {world.Fault{Kind: "pcie-gen-degraded", Options: map[string]string{"how": "width"}}, []sight{
			{"gpu-03", "nvidia-smi -q -x", "<max_link_width>16x</max_link_width>\n\t\t\t\t\t<current_link_width>8x</current_link_width>", 0},
			{"gpu-03", "nvidia-smi --query-gpu=pcie.link.width.current,pcie.link.width.max --format=csv,noheader", "8, 16\n", 0},
		}},
		"throttle-counters-missing": {world.Fault{Kind: "throttle-counters-missing"}, []sight{
			{"gpu-04", "nvidia-smi -q -x", "<clocks_event_reasons_counters_hw_therm_slowdown>N/A<", 0},
		}},
		"throttled-under-load": {world.Fault{Kind: "throttled-under-load"}, []sight{
			{"gpu-04", "nvidia-smi -q -x", "<clocks_event_reasons_counters_hw_power_brake>1000000 us<", 0},
		}},
		"fabric-manager-down": {world.Fault{Kind: "fabric-manager-down"}, []sight{
			{"gpu-03", "systemctl show nvidia-fabricmanager.service -p LoadState -p ActiveState -p SubState", "LoadState=loaded\nActiveState=inactive\nSubState=dead\n", 0},
		}},
		"fabric-manager-down never": {world.Fault{Kind: "fabric-manager-down", Options: map[string]string{"how": "never-started"}}, []sight{
			{"gpu-03", "nvidia-smi -q -x", "<state>In Progress</state>", 0},
		}},
		"fabric-manager-version": {world.Fault{Kind: "fabric-manager-version"}, []sight{
			{"gpu-03", "nv-fabricmanager --version", "Fabric Manager version is : 570.124.06", 0},
		}},
		"nvlink-fabric-degraded": {world.Fault{Kind: "nvlink-fabric-degraded"}, []sight{
			{"gpu-04", "nvidia-smi -q -x", "<bandwidth>Degraded</bandwidth>", 0},
		}},
		"driver-in-pods": {world.Fault{Kind: "driver-in-pods"}, []sight{
			{"gpu-03", "systemctl show nvidia-fabricmanager.service -p LoadState", "LoadState=not-found", 0},
		}},
		"nvlink-errors": {world.Fault{Kind: "nvlink-errors"}, []sight{
			{"gpu-04", "nvidia-smi nvlink -e", "\t Link 4: Replay Errors: 10001\n\t Link 4: Recovery Errors: 0\n", 0},
		}},
		"ecc-correctable-storm": {world.Fault{Kind: "ecc-correctable-storm"}, []sight{
			{"gpu-02", "nvidia-smi -q -x", "<dram_correctable>50000000</dram_correctable>", 0},
			{"gpu-02", "dmesg", "Xid (PCI:0000:43:00): 92,", 0},
		}},
		"ecc-correctable-storm in sram": {world.Fault{Kind: "ecc-correctable-storm", Options: map[string]string{"memory": "sram"}}, []sight{
			{"gpu-02", "nvidia-smi -q -x", "<sram_correctable>50000</sram_correctable>", 0},
		}},
		"nic-pcie-degraded": {world.Fault{Kind: "nic-pcie-degraded"}, []sight{
			{"gpu-02", "cat /sys/class/infiniband/mlx5_3/device/current_link_speed", "8.0 GT/s PCIe\n", 0},
		}},
		"nic-pcie-degraded width": {world.Fault{Kind: "nic-pcie-degraded", Options: map[string]string{"how": "width"}}, []sight{
			{"gpu-02", "cat /sys/class/infiniband/mlx5_3/device/current_link_width", "8\n", 0},
		}},
		"acs-enabled": {world.Fault{Kind: "acs-enabled"}, []sight{
			{"gpu-02", "lspci -D -vvv -d ::0604", "Downstream Port (Slot+), MSI 00\n\tCapabilities: [170 v1] Access Control Services\n" +
				"\t\tACSCap:\tSrcValid+ TransBlk+ ReqRedir+ CmpltRedir+ UpstreamFwd+ EgressCtrl+ DirectTrans+\n" +
				"\t\tACSCtl:\tSrcValid+ TransBlk- ReqRedir+ CmpltRedir+ UpstreamFwd+ EgressCtrl- DirectTrans-\n", 0},
		}},
		"iommu-translated": {world.Fault{Kind: "iommu-translated"}, []sight{
			{"gpu-02", "grep -Hs . /sys/class/infiniband/*/device/iommu_group/type", "mlx5_3/device/iommu_group/type:DMA-FQ\n", 0},
			{"gpu-02", "grep -Hs . /sys/bus/pci/drivers/nvidia/*/iommu_group/type", "nvidia/0000:1b:00.0/iommu_group/type:DMA-FQ\n", 0},
			{"gpu-02", "dmesg", "console=ttyS0,115200n8\n", 0},
		}},
		"kernel-log-wrapped": {world.Fault{Kind: "kernel-log-wrapped"}, []sight{
			{"gpu-03", "dmesg", "callbacks suppressed", 0},
		}},
		"cpu-governor": {world.Fault{Kind: "cpu-governor"}, []sight{
			{"gpu-03", "grep -Hs . /sys/devices/system/cpu/cpufreq/policy*/scaling_governor", "policy111/scaling_governor:powersave\n", 0},
		}},
		"memory-short": {world.Fault{Kind: "memory-short"}, []sight{
			{"gpu-03", "cat /proc/meminfo", "MemTotal:       1056561954 kB\n", 0},
		}},
		"clock-skew": {world.Fault{Kind: "clock-skew"}, []sight{
			{"gpu-03", "date +%s.%N", "1793610092.000000000\n", 0},
		}},
		"hugepages-missing": {world.Fault{Kind: "hugepages-missing"}, []sight{
			{"gpu-03", "cat /proc/meminfo", "HugePages_Total:       0\n", 0},
		}},
		"gpu-affinity-wrong": {world.Fault{Kind: "gpu-affinity-wrong"}, []sight{
			{"gpu-04", "nvidia-smi topo -m", "\nGPU2\tNV18\tNV18\t X \tNV18\tNV18\tNV18\tNV18\tNV18\tSYS\tSYS\tSYS\tSYS\tNODE\tNODE\tNODE\tNODE\t56-111\t1\t\tN/A\n", 0},
		}},
		"nvlink-down": {world.Fault{Kind: "nvlink-down"}, []sight{
			{"gpu-04", "nvidia-smi nvlink -s", "\t Link 4: <inactive>", 0},
			{"gpu-04", "dcgmi nvlink -s", "U U U U D U", 0},
			{"gpu-04", "dcgmi diag -r 3 -j", "GPU 0's NvLink link 4 is currently down", 226},
			{"gpu-04", "dmesg", "Xid (PCI:0000:1b:00): 74,", 0},
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			healthy, broken := state(t, 4), state(t, 4, tt.fault)
			for _, s := range tt.sights {
				out, errOut, exit := run(t, broken, s.node, s.command)
				if !strings.Contains(out+errOut, s.want) || exit != s.exit {
					t.Errorf("%s: %s: exit %d (want %d), or nothing of %q in\n%.2000s%.200s", s.node, s.command, exit, s.exit, s.want, out, errOut)
				}
				if out, errOut, _ := run(t, healthy, s.node, s.command); strings.Contains(out+errOut, s.want) {
					t.Errorf("%s: %s shows %q without the fault", s.node, s.command, s.want)
				}
			}
		})
	}
}

// Faults of later gates have no symptom in earlier gates' output, and node faults none on the
// fabric, so that earlier gates pass.
func TestFaultsDoNotAffectEarlierGates(t *testing.T) {
	t.Parallel()
	fabric := []string{"ibstat", "sminfo", "iblinkinfo", "ibqueryerrors", "ibdiagnet", "ibv_devinfo", pkeysOf("mlx5_3")}
	all := append([]string{"nvidia-smi -q -x", "dcgmi diag -r 3 -j", "dmesg"}, fabric...)
	look := func(s world.State, commands []string) map[string]string {
		out := map[string]string{}
		for _, node := range []string{"gpu-01", "gpu-02", "gpu-03", "gpu-04"} {
			for _, command := range commands {
				out[node+": "+command], _, _ = run(t, s, node, command)
			}
		}
		return out
	}
	healthy := map[string]map[string]string{}
	for _, k := range world.Catalogue() {
		hardware := k.Hardware()
		commands := all
		switch k.Gate {
		case "fabric":
			continue
		case "node":
			commands = fabric
		}
		if healthy[hardware] == nil {
			healthy[hardware] = look(stateOf(t, hardware, 4), all)
		}
		t.Run(k.Kind, func(t *testing.T) {
			t.Parallel()
			for what, got := range look(stateOf(t, hardware, 4, world.Fault{Kind: k.Kind}), commands) {
				if got != healthy[hardware][what] {
					t.Errorf("%s differs", what)
				}
			}
		})
	}
}
