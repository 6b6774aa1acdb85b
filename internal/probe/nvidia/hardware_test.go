package nvidia_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/firstlight/firstlight/internal/probe/nvidia"
)

// Errors of the host's hardware, as kernels printed them. The events of GPUs and switches have none of them.
func TestParseHardware(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		in   string
		want []nvidia.XidEvent // without times and counts
	}{
		// ovro-lwa/lwa-issues issue 117
		"an uncorrected error of a DIMM": {
			"[May19 19:57] mce: [Hardware Error]: Machine check events logged\n[  +0.000001] EDAC skx MC3: CPU 10: Machine Check Event: 0 Bank 8: fc00010001010092\n" +
				"[  +0.000006] EDAC MC3: 1 UE memory read error on CPU_SrcID#1_MC#1_Chan#2_DIMM#0 (channel:2 slot:0)\n",
			[]nvidia.XidEvent{
				{Kind: nvidia.KindProcessor, Fatal: true, Text: "CPU 10: Machine Check Event: 0 Bank 8: fc00010001010092"},
				{Kind: nvidia.KindMemory, Fatal: true, Device: "MC3", Text: "EDAC MC3: 1 UE memory read error on CPU_SrcID#1_MC#1_Chan#2_DIMM#0 (channel:2 slot:0)"},
			},
		},
		// radiasoft/devops issue 134
		"a corrected error of a DIMM": {
			"Feb 23 03:28:16 kernel: EDAC sbridge MC1: CPU 1: Machine Check Event: 0 Bank 11: 8c00004f000800c2\nFeb 23 03:28:16  kernel: EDAC MC1: 1 CE memory scrubbing error on CPU_SrcID#1_Ha#0_Chan#0_DIMM#0\n",
			[]nvidia.XidEvent{
				{Kind: nvidia.KindProcessor, Text: "CPU 1: Machine Check Event: 0 Bank 11: 8c00004f000800c2"},
				{Kind: nvidia.KindMemory, Device: "MC1", Text: "EDAC MC1: 1 CE memory scrubbing error on CPU_SrcID#1_Ha#0_Chan#0_DIMM#0"},
			},
		},
		// andikleen/mcelog issue 70, and BurntSushi/ripgrep issue 2898 (AMD)
		"uncorrected machine checks": {
			"[    0.064265] mce: [Hardware Error]: CPU 0: Machine Check: 0 Bank 4: a600000000020408\n[    0.7] [Hardware Error]: CPU:2 (19:21:0) MC5_STATUS[-|UE|MiscV|AddrV|PCC|TCC|SyndV|-|-|-]: 0xbea0000001000108\n",
			[]nvidia.XidEvent{{Kind: nvidia.KindProcessor, Fatal: true, Text: "CPU 0: Machine Check: 0 Bank 4: a600000000020408"}},
		},
		// matrixorigin/matrixone issue 20374
		"firmware reports an uncorrected error of a DIMM": {
			"Nov 26 09:36:22 mo-srv-128 kernel: {7}[Hardware Error]: event severity: recoverable\nNov 26 09:36:22 mo-srv-128 kernel: {7}[Hardware Error]:  Error 0, type: recoverable\n" +
				"Nov 26 09:36:22 mo-srv-128 kernel: {7}[Hardware Error]:  fru_text: B2\nNov 26 09:36:22 mo-srv-128 kernel: {7}[Hardware Error]:   section_type: memory error\n",
			[]nvidia.XidEvent{{Kind: nvidia.KindMemory, Fatal: true, Text: "firmware reports a recoverable memory error"}},
		},
		// prometheus/node_exporter issue 3511; the second is that of a driver that resets its device (netdev@vger.kernel.org, ice)
		"firmware reports a corrected error, and one of PCIe": {
			"[1.0] {35}[Hardware Error]: event severity: corrected\n[1.0] {35}[Hardware Error]:  Error 0, type: corrected\n[1.0] {35}[Hardware Error]:   section_type: memory error\n" +
				"[2.0] {1}[Hardware Error]: event severity: recoverable\n[2.0] {1}[Hardware Error]:  Error 0, type: recoverable\n[2.0] {1}[Hardware Error]:   section_type: PCIe error\n",
			[]nvidia.XidEvent{{Kind: nvidia.KindMemory, Text: "firmware reports a corrected memory error"}, {Kind: nvidia.KindPCIe, Text: "firmware reports a recoverable PCIe error"}},
		},
		// The section of NVIDIA's processors (mchehab/rasdaemon pull request 243), whose name the kernel does not know
		"firmware reports a fatal error of another section": {
			"[3.1] BERT: Error records from previous boot:\n[3.1] [Hardware Error]: event severity: fatal\n[3.1] [Hardware Error]:  Error 0, type: fatal\n" +
				"[3.1] [Hardware Error]:   section type: unknown, 6d5244f2-2712-11ec-bea7-cb3fdb95c786\n[3.1] [Hardware Error]:   section length: 0x290\n",
			[]nvidia.XidEvent{{Kind: nvidia.KindProcessor, Fatal: true, Text: "firmware reports a fatal error of section 6d5244f2-2712-11ec-bea7-cb3fdb95c786"}},
		},
		// linux-acpi@vger.kernel.org ("efi: cper: Add support for printing Firmware Error Record Reference") and linux-surface/linux-surface
		// issue 390: dumps of a crash, by both names; linux-cxl@vger.kernel.org: events of a CXL device
		"firmware reports a crash, and errors of other sections that are not fatal": {
			"[2.3] BERT: Error records from previous boot:\n[2.3] [Hardware Error]: event severity: fatal\n[2.3] [Hardware Error]:  Error 0, type: fatal\n" +
				"[2.3] [Hardware Error]:   section type: unknown, 81212a96-09ed-4996-9471-8d729c8e69ed\n[2.3] [Hardware Error]:   section_type: Firmware Error Record Reference\n" +
				"[9.0] {1}[Hardware Error]: event severity: recoverable\n[9.0] {1}[Hardware Error]:  Error 0, type: recoverable\n" +
				"[9.0] {1}[Hardware Error]:   section type: unknown, fbcd0a77-c260-417f-85a9-088b1621eba6\n" +
				"[9.1] {2}[Hardware Error]: event severity: info\n[9.1] {2}[Hardware Error]:  Error 0, type: info\n[9.1] {2}[Hardware Error]:   section type: unknown, 9068e568-6ca0-11f0-aeaf-159343591eac\n",
			[]nvidia.XidEvent{{Kind: nvidia.KindProcessor, Text: "firmware reports a dump of a crash"}}, // twice
		},
		// ROCm (Linux 4.4), linux-pci@vger.kernel.org ("PCI/AER: Report fatal errors of RCiEP and EP")
		"PCIe errors": {
			"[  942.180239] pcieport 0000:00:1c.4: PCIe Bus Error: severity=Uncorrected (Fatal), type=Transaction Layer, id=00e4(Receiver ID)\n" +
				"[  950.0] pcieport 0000:30:03.0: DPC: ERR_FATAL detected\n[  951.0] nvme 0000:34:00.0: PCIe Bus Error: severity=Uncorrectable (Fatal), type=Data Link Layer, (Receiver ID)\n" +
				"[  952.0] pcieport 0000:00:1b.0: PCIe Bus Error: severity=Uncorrected (Non-Fatal), type=Transaction Layer, (Receiver ID)\n",
			[]nvidia.XidEvent{
				{Kind: nvidia.KindPCIe, PCI: "0000:00:1c", Fatal: true, Text: "pcieport 0000:00:1c.4: PCIe Bus Error: severity=Uncorrected (Fatal), type=Transaction Layer, id=00e4(Receiver ID)"},
				{Kind: nvidia.KindPCIe, PCI: "0000:30:03", Fatal: true, Text: "pcieport 0000:30:03.0: DPC: ERR_FATAL detected"},
				{Kind: nvidia.KindPCIe, PCI: "0000:34:00", Fatal: true, Text: "nvme 0000:34:00.0: PCIe Bus Error: severity=Uncorrectable (Fatal), type=Data Link Layer, (Receiver ID)"},
				{Kind: nvidia.KindPCIe, PCI: "0000:00:1b", Text: "pcieport 0000:00:1b.0: PCIe Bus Error: severity=Uncorrected (Non-Fatal), type=Transaction Layer, (Receiver ID)"},
			},
		},
		// linux-pci@vger.kernel.org: some kernels print "AER: " behind the device
		"a PCIe error with another prefix": {
			"[256236.152634] pcieport 0000:89:02.0: AER: PCIe Bus Error: severity=Uncorrected (Fatal), type=Transaction Layer, (Receiver ID)\n" +
				"[256237.0] nvidia 0000:8a:00.0: AER: PCIe Bus Error: severity=Uncorrected (Non-Fatal), type=Transaction Layer, (Requester ID)\n",
			[]nvidia.XidEvent{
				{Kind: nvidia.KindPCIe, PCI: "0000:89:02", Fatal: true, Text: "pcieport 0000:89:02.0: AER: PCIe Bus Error: severity=Uncorrected (Fatal), type=Transaction Layer, (Receiver ID)"},
				{Kind: nvidia.KindPCIe, PCI: "0000:8a:00", Text: "nvidia 0000:8a:00.0: AER: PCIe Bus Error: severity=Uncorrected (Non-Fatal), type=Transaction Layer, (Requester ID)"},
			},
		},
		// NVIDIA/NVSentinel, its end-to-end test of NIC drivers and its configuration of EFA
		"adapters whose firmware is gone": {
			"[   66.816635] mlx5_core 0000:03:00.0: wait_func:964:(pid 112): ENABLE_HCA(0x104) timeout. Will cause a leak of a command resource\n" +
				"[   17.982092] mlx5_core 0000:41:00.0: poll_health:852:(pid 0): device's health compromised - reached miss count\n" +
				"[   17.982217] mlx5_core 0000:42:00.0: print_health_info:458:(pid 0): Health issue observed, firmware internal error, severity(3) ERROR:\n" +
				"[   18.0] infiniband rdmap79s0: The device didn't send any completion for admin cmd (opcode 1)\n",
			[]nvidia.XidEvent{
				{Kind: nvidia.KindAdapter, PCI: "0000:03:00", Fatal: true, Text: "mlx5_core 0000:03:00.0: wait_func:964:(pid 112): ENABLE_HCA(0x104) timeout. Will cause a leak of a command resource"},
				{Kind: nvidia.KindAdapter, PCI: "0000:41:00", Fatal: true, Text: "mlx5_core 0000:41:00.0: poll_health:852:(pid 0): device's health compromised - reached miss count"},
				{Kind: nvidia.KindAdapter, PCI: "0000:42:00", Text: "mlx5_core 0000:42:00.0: print_health_info:458:(pid 0): Health issue observed, firmware internal error, severity(3) ERROR:"},
				{Kind: nvidia.KindAdapter, Fatal: true, Text: "infiniband rdmap79s0: The device didn't send any completion for admin cmd (opcode 1)"},
			},
		},
		// linux-acpi@vger.kernel.org, a journal of Proxmox VE 8 in public, kubernetes/node-problem-detector pull request 845, siderolabs/talos pull request 8733
		"drives": {
			"[  281.692677] nvme nvme0: controller is down; will reset: CSTS=0xffffffff, PCI_STATUS=0x10\n[  281.778436] nvme nvme0: Removing after probe failure status: -19\n" +
				"[44737.467527] EXT4-fs (nvme1n1p1): Remounting filesystem read-only\n[44738.0] XFS (dm-4): I/O Error Detected. Shutting down filesystem\n" +
				"109.200.197.196: kern:   alert: [2024-05-13T15:13:11.99477118Z]: XFS (sdb6): Filesystem has been shut down due to log error (0x2).\n[53982.591170] md/raid1:md0: Disk failure on sdb1, disabling device.\n",
			[]nvidia.XidEvent{
				{Kind: nvidia.KindDrive, Device: "nvme0", Text: "nvme nvme0: controller is down; will reset: CSTS=0xffffffff, PCI_STATUS=0x10"},
				{Kind: nvidia.KindDrive, Device: "nvme0", Fatal: true, Text: "nvme nvme0: Removing after probe failure status: -19"},
				{Kind: nvidia.KindDrive, Device: "nvme1n1p1", Fatal: true, Text: "EXT4-fs (nvme1n1p1): Remounting filesystem read-only"},
				{Kind: nvidia.KindDrive, Device: "dm-4", Fatal: true, Text: "XFS (dm-4): I/O Error Detected. Shutting down filesystem"},
				{Kind: nvidia.KindDrive, Device: "sdb6", Fatal: true, Text: "XFS (sdb6): Filesystem has been shut down due to log error (0x2)."},
				{Kind: nvidia.KindDrive, Device: "sdb1", Fatal: true, Text: "md/raid1:md0: Disk failure on sdb1, disabling device."},
			},
		},
		// scitix/sichek issue 51 (H200), NVIDIA/open-gpu-kernel-modules issue 1045
		"GPUs that need a reset": {
			"[Sun Jan 11 09:52:01 2026] NVRM: rpcRmApiAlloc_GSP: GspRmAlloc failed: hClient=0xc1d1a616; hParent=0x5c000054; hObject=0x5c00005b; hClass=0x0000c86f; paramsSize=0x00000170; paramsStatus=0x00000062; status=0x00000062\n" +
				"[Sun Jan 11 09:52:01 2026] NVRM: nvAssertOkFailedNoLog: Assertion failed: Reset required [NV_ERR_RESET_REQUIRED] (0x00000062) returned from status @ kernel_channel.c:2874\n" +
				"Jun 12 16:31:50 fedora-box kernel: NVRM: GPU0 nvCheckFailedNoLog: Check failed: (status == NV_OK) || (status == NV_ERR_GPU_IN_FULLCHIP_RESET) @ gpu_user_shared_data.c:503\n",
			[]nvidia.XidEvent{{Kind: nvidia.KindDriver, Fatal: true, Text: "NVRM: nvAssertOkFailedNoLog: Assertion failed: Reset required [NV_ERR_RESET_REQUIRED] (0x00000062) returned from status @ kernel_channel.c:2874"}},
		},
		"lockups": {
			"[10.0] watchdog: BUG: soft lockup - CPU#5 stuck for 22s! [kworker/5:1:123]\n[11.0] INFO: task nvidia-smi:4711 blocked for more than 120 seconds.\n",
			[]nvidia.XidEvent{{Kind: nvidia.KindKernel, Text: "BUG: soft lockup - CPU#5 stuck for 22s! [kworker/5:1:123]"}}, // twice
		},
		// longhorn/longhorn issue 1920, and a container's image
		"volumes of a cluster": {
			"[Tue Oct 27 08:51:30 2020] blk_update_request: critical medium error, dev sde, sector 3260792 op 0x0:(READ) flags 0x80700 phys_seg 211 prio class 0\n" +
				"[Tue Oct 27 08:51:31 2020] EXT4-fs (sde): Remounting filesystem read-only\n[Tue Oct 27 08:51:32 2020] EXT4-fs (rbd0): Remounting filesystem read-only\n[Tue Oct 27 08:51:33 2020] md/raid1:md0: Disk failure on loop2, disabling device.\n",
			nil,
		},
		"lines of a healthy boot": {
			boot + "[0.1] mce: CPU supports 32 MCE banks\n[0.2] EDAC MC: Ver: 3.0.0\n[0.3] GHES: APEI firmware first mode is enabled by APEI bit and WHEA _OSC.\n" +
				"[0.4] pcieport 0000:00:1c.0: DPC: error containment capabilities: Int Msg #0, RPExt+ PoisonedTLP+ SwTrigger+ RP PIO Log 4, DL_ActiveErr+\n" +
				"[0.5] pcieport 0000:00:03.0: AER: Corrected error received: 0000:00:03.0\n[0.6] pcieport 0000:00:03.0: PCIe Bus Error: severity=Corrected, type=Data Link Layer, (Transmitter ID)\n" +
				"[0.7] {2}[Hardware Error]: event severity: corrected\n[0.7] {2}[Hardware Error]:   section_type: PCIe error\n[0.7] {2}[Hardware Error]:   section type: unknown, e8ed898d-df16-43cc-8ecc-54f060ef157f\n" +
				"[0.8] mlx5_core 0000:03:00.0: Port module event: module 0, Cable plugged\n[0.9] nvme nvme0: 12/0/0 default/read/poll queues\n[1.0] EXT4-fs (nvme0n1p1): re-mounted. Opts: errors=remount-ro\n" +
				"[1.1] efa 0000:4f:00.0: Setup irq:175 name:efa-mgmnt@pci:0000:4f:00.0\n",
			nil,
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			log, err := nvidia.ParseXids([]byte(tt.in))
			if err != nil {
				t.Fatal(err)
			}
			if len(log.Events) > 0 {
				t.Errorf("events of GPUs or switches: %+v", log.Events)
			}
			var got []nvidia.XidEvent
			for _, e := range log.Hardware {
				if e.Count < 1 || e.First == "" {
					t.Errorf("a half event: %+v", e)
				}
				e.Count, e.First, e.Last = 0, "", ""
				got = append(got, e)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// Equal errors are counted, and errors that a ring buffer has dropped since stay.
func TestHardwareIsCounted(t *testing.T) {
	t.Parallel()
	was, err := nvidia.ParseXids([]byte(strings.Repeat("[5.0] EDAC MC3: 1 UE memory read error on DIMM#0\n", 3)))
	if err != nil || len(was.Hardware) != 1 || was.Hardware[0].Count != 3 {
		t.Fatalf("%v: %+v", err, was.Hardware)
	}
	is, err := nvidia.ParseXids([]byte("[4.0] x\n[9.0] y\n"))
	if got := is.Since(was).Hardware; err != nil || len(got) != 1 || got[0].Count != 3 {
		t.Errorf("%v: %+v", err, got)
	}
}
