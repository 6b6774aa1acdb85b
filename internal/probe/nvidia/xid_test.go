package nvidia_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/firstlight/firstlight/internal/probe/nvidia"
)

const boot = `[    0.000000] Linux version 5.15.0-119-generic (buildd@lcy02)
[   15.000000] NVRM: loading NVIDIA UNIX Open Kernel Module for x86_64  580.105.08  Release Build
`

func TestParseXid(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		in   string
		want []nvidia.XidEvent
	}{
		"no errors": {boot, nil},
		"off the bus": {
			boot + "[ 1234.5] NVRM: Xid (PCI:0000:01:00): 79, GPU has fallen off the bus.\n",
			[]nvidia.XidEvent{{Kind: "Xid", Code: 79, PCI: "0000:01:00", Text: "GPU has fallen off the bus.", Count: 1, First: "1234.5", Last: "1234.5"}},
		},
		"hexadecimal domain, wall clock": {
			"[Fri Oct 14 14:56:49 2022] NVRM: Xid (PCI:000D:00:00): 31, pid=3234, Ch 00000010\n",
			[]nvidia.XidEvent{{Kind: "Xid", Code: 31, PCI: "000d:00:00", Text: "pid=3234, Ch 00000010", Count: 1, First: "Fri Oct 14 14:56:49 2022", Last: "Fri Oct 14 14:56:49 2022"}},
		},
		"with function, long domain, no pid": {
			"[1.0] NVRM: Xid (PCI:00000000:9B:00.0): 119, Timeout after 6s of waiting for RPC response\n",
			[]nvidia.XidEvent{{Kind: "Xid", Code: 119, PCI: "0000:9b:00", Text: "Timeout after 6s of waiting for RPC response", Count: 1, First: "1.0", Last: "1.0"}},
		},
		"an instance of a partitioned GPU": {
			"[1.0] NVRM: Xid (PCI:0000:5a:00 GPU-I:01): 94, pid=1, Contained\n",
			[]nvidia.XidEvent{{Kind: "Xid", Code: 94, PCI: "0000:5a:00", Text: "pid=1, Contained", Count: 1, First: "1.0", Last: "1.0"}},
		},
		"no timestamp": {
			"NVRM: Xid (PCI:0000:01:00): 13, pid='<unknown>', name=<unknown>, Graphics Exception: ESR 0x54ef30=0\n",
			[]nvidia.XidEvent{{Kind: "Xid", Code: 13, PCI: "0000:01:00", Text: "pid='<unknown>', name=<unknown>, Graphics Exception: ESR 0x54ef30=0", Count: 1}},
		},
		"syslog": {
			"Aug 17 06:18:01 host kernel: NVRM: Xid (PCI:0000:01:00): 48\n",
			[]nvidia.XidEvent{{Kind: "Xid", Code: 48, PCI: "0000:01:00", Count: 1, First: "Aug 17 06:18:01", Last: "Aug 17 06:18:01"}},
		},
		// NVIDIA/gpu-operator issue 610, and journals in public: journalctl names months in the language of the system
		"journal in other languages": {
			"11월 15 14:15:47 gpu-01 kernel: NVRM: Xid (PCI:0000:01:00): 79, pid=1, GPU has fallen off the bus.\n" +
				"6月 28 02:52:53 gpu-01 kernel: NVRM: Xid (PCI:0000:c2:00): 79, pid=1, GPU has fallen off the bus.\n" +
				"févr. 05 02:52:53 gpu-01 kernel: NVRM: Xid (PCI:0000:c3:00): 79, pid=1, GPU has fallen off the bus.\n",
			[]nvidia.XidEvent{
				{Kind: "Xid", Code: 79, PCI: "0000:01:00", Text: "pid=1, GPU has fallen off the bus.", Count: 1, First: "11월 15 14:15:47", Last: "11월 15 14:15:47"},
				{Kind: "Xid", Code: 79, PCI: "0000:c2:00", Text: "pid=1, GPU has fallen off the bus.", Count: 1, First: "6月 28 02:52:53", Last: "6月 28 02:52:53"},
				{Kind: "Xid", Code: 79, PCI: "0000:c3:00", Text: "pid=1, GPU has fallen off the bus.", Count: 1, First: "févr. 05 02:52:53", Last: "févr. 05 02:52:53"},
			},
		},
		"a journal in another language without errors": {"6月 28 02:52:53 gpu-01 kernel: nvidia-nvlink: Nvlink Core is being initialized\n", nil},
		"recovery action": {
			"[1.0] NVRM: Xid (PCI:0008:01:00): 154, GPU recovery action changed from 0x4 (Drain and Reset) to 0x1 (GPU Reset Required)\n",
			[]nvidia.XidEvent{{Kind: "Xid", Code: 154, PCI: "0008:01:00", Action: "GPU Reset Required", Text: "GPU recovery action changed from 0x4 (Drain and Reset) to 0x1 (GPU Reset Required)", Count: 1, First: "1.0", Last: "1.0"}},
		},
		"switches": {
			"[1.0] nvidia-nvswitch3: SXid (PCI:0000:05:00.0): 12028, Non-fatal, Link 32 egress non-posted PRIV error (First)\n" +
				"[2.0] nvidia-nvswitch0: SXid (PCI:0000:05:00.0): 20034, Fatal, Link 62 LTSSM Fault Up\n",
			[]nvidia.XidEvent{
				{Kind: "SXid", Code: 12028, PCI: "0000:05:00", Device: "nvswitch3", Text: "Link 32 egress non-posted PRIV error (First)", Count: 1, First: "1.0", Last: "1.0"},
				{Kind: "SXid", Code: 20034, PCI: "0000:05:00", Device: "nvswitch0", Fatal: true, Text: "Link 62 LTSSM Fault Up", Count: 1, First: "2.0", Last: "2.0"},
			},
		},
		"further lines of a switch's error": {
			"[117.9] nvidia-nvswitch3: SXid (PCI:0000:08:00.0): 22013, Data {0x0000003c, 0x00000000}\n" +
				"[118.0] nvidia-nvswitch3: SXid (PCI:0000:08:00.0): 22013, Non-fatal, Link 60 Minion Link DLREQ interrupt\n" +
				"[118.1] nvidia-nvswitch3: SXid (PCI:0000:08:00.0): 22013, Severity 0 Engine instance 60 Sub-engine instance 00\n" +
				"[119.0] NVRM: Xid (PCI:0000:01:00): 79, GPU has fallen off the bus.\n",
			[]nvidia.XidEvent{
				{Kind: "SXid", Code: 22013, PCI: "0000:08:00", Device: "nvswitch3", Text: "Link 60 Minion Link DLREQ interrupt", Count: 1, First: "118.0", Last: "118.0"},
				{Kind: "Xid", Code: 79, PCI: "0000:01:00", Text: "GPU has fallen off the bus.", Count: 1, First: "119.0", Last: "119.0"},
			},
		},
		"further lines whose first one is lost": {
			"[1.0] nvidia-nvswitch0: SXid (PCI:0000:a9:00.0): 20034, Severity 1 Engine instance 30 Sub-engine instance 00\n" +
				"[2.0] nvidia-nvswitch0: SXid (PCI:0000:a9:00.0): 20034, Data {0x50610002}\n" +
				"[3.0] nvidia-nvswitch1: SXid (PCI:0000:84:00.0): 12028, Data {0x000001c0}\n" +
				"[4.0] nvidia-nvswitch1: SXid (PCI:0000:84:00.0): 12033, Severity 0 Engine instance 00 Sub-engine instance 00\n",
			[]nvidia.XidEvent{
				{Kind: "SXid", Code: 20034, PCI: "0000:a9:00", Device: "nvswitch0", Fatal: true, Text: "Severity 1 Engine instance 30 Sub-engine instance 00", Count: 1, First: "1.0", Last: "1.0"},
				{Kind: "SXid", Code: 12033, PCI: "0000:84:00", Device: "nvswitch1", Text: "Severity 0 Engine instance 00 Sub-engine instance 00", Count: 1, First: "4.0", Last: "4.0"},
				{Kind: "SXid", Code: 12028, PCI: "0000:84:00", Device: "nvswitch1", Unclassified: true, Text: "Data {0x000001c0}", Count: 1, First: "3.0", Last: "3.0"},
			},
		},
		"a severe further line below a non-fatal first one": {
			"[1.0] nvidia-nvswitch0: SXid (PCI:0000:a9:00.0): 24007, Non-fatal, Link 12 x\n[2.0] nvidia-nvswitch0: SXid (PCI:0000:a9:00.0): 24007, Severity 1 Engine instance 12 Sub-engine instance 00\n",
			[]nvidia.XidEvent{
				{Kind: "SXid", Code: 24007, PCI: "0000:a9:00", Device: "nvswitch0", Text: "Link 12 x", Count: 1, First: "1.0", Last: "1.0"},
				{Kind: "SXid", Code: 24007, PCI: "0000:a9:00", Device: "nvswitch0", Fatal: true, Text: "Severity 1 Engine instance 12 Sub-engine instance 00", Count: 1, First: "2.0", Last: "2.0"},
			},
		},
		"a switch's error without a class": {
			"[1.0] nvidia-nvswitch0: SXid (PCI:0000:a9:00.0): 26006, SOE HALTED\n",
			[]nvidia.XidEvent{{Kind: "SXid", Code: 26006, PCI: "0000:a9:00", Device: "nvswitch0", Unclassified: true, Text: "SOE HALTED", Count: 1, First: "1.0", Last: "1.0"}},
		},
		"facility and level before the time": {
			"kern  :err   : 2025-01-25T10:34:54,859532+00:00 nvidia-nvswitch1: SXid (PCI:0000:84:00.0): 20034, Fatal, Link 1 x\n" +
				"192.0.2.119: kern: warning: [2026-04-22T21:25:20.56Z]: NVRM: Xid (PCI:0000:48:00): 45, pid=22884\n",
			[]nvidia.XidEvent{
				{Kind: "SXid", Code: 20034, PCI: "0000:84:00", Device: "nvswitch1", Fatal: true, Text: "Link 1 x", Count: 1, First: "2025-01-25T10:34:54,859532+00:00", Last: "2025-01-25T10:34:54,859532+00:00"},
				{Kind: "Xid", Code: 45, PCI: "0000:48:00", Text: "pid=22884", Count: 1, First: "2026-04-22T21:25:20.56Z", Last: "2026-04-22T21:25:20.56Z"},
			},
		},
		// leptonai/gpud pull requests 1160 and 1174, marin-community/marin issue 9086 (GB200).
		"NVLink 5: the line says whether it is fatal": {
			"[1.0] NVRM: Xid (PCI:0000:04:00): 149, NETIR_BER_EVENT Nonfatal XC0 i0 Link 00 (0x00000013 0x00000000)\n" +
				"[2.0] NVRM: Xid (PCI:0000:04:00): 149, NETIR_LINK_DOWN  Fatal   XC0 i0 Link 14 (0x000401c6 0x00000000)\n" +
				"[3.0] NVRM: Xid (PCI:0000:04:00): 145, pid=3, name=x\n",
			[]nvidia.XidEvent{
				{Kind: "Xid", Code: 149, PCI: "0000:04:00", Text: "NETIR_BER_EVENT Nonfatal XC0 i0 Link 00 (0x00000013 0x00000000)", Count: 1, First: "1.0", Last: "1.0"},
				{Kind: "Xid", Code: 149, PCI: "0000:04:00", Fatal: true, Text: "NETIR_LINK_DOWN  Fatal   XC0 i0 Link 14 (0x000401c6 0x00000000)", Count: 1, First: "2.0", Last: "2.0"},
				{Kind: "Xid", Code: 145, PCI: "0000:04:00", Unclassified: true, Text: "pid=3, name=x", Count: 1, First: "3.0", Last: "3.0"},
			},
		},
		// leptonai/gpud, test of ExtractNVRMXidInfoExtended ("production log lines"); DataDog/datadog-agent,
		// TestParseNvidiaXidDetails (Fatal). The last line has the class as the name of a process alone.
		"NVLink 5: the class behind the process": {
			"[1.0] NVRM: Xid (PCI:0018:01:00): 145, pid=876767, name=ray::WorkerDict, RLW_RXPIPE Nonfatal XC0 i0 Link 13 (0x0409a0c2 0x00000008)\n" +
				"[2.0] NVRM: Xid (PCI:0000:00:1e): 145, pid=4, name=<unknown>, RLW_SRC_TRACK Fatal XC0 i1 Link 00 (0x00000001 0x00000002)\n" +
				"[3.0] NVRM: Xid (PCI:0000:04:00): 145, pid='<unknown>', name=a Fatal b, RLW_REMAP\n",
			[]nvidia.XidEvent{
				{Kind: "Xid", Code: 145, PCI: "0018:01:00", Text: "pid=876767, name=ray::WorkerDict, RLW_RXPIPE Nonfatal XC0 i0 Link 13 (0x0409a0c2 0x00000008)", Count: 1, First: "1.0", Last: "1.0"},
				{Kind: "Xid", Code: 145, PCI: "0000:00:1e", Fatal: true, Text: "pid=4, name=<unknown>, RLW_SRC_TRACK Fatal XC0 i1 Link 00 (0x00000001 0x00000002)", Count: 1, First: "2.0", Last: "2.0"},
				{Kind: "Xid", Code: 145, PCI: "0000:04:00", Unclassified: true, Text: "pid='<unknown>', name=a Fatal b, RLW_REMAP", Count: 1, First: "3.0", Last: "3.0"},
			},
		},
		// NVIDIA/open-gpu-kernel-modules issues 789 and 1230.
		"a GPU that was not initialised": {
			boot + "[20.1] NVRM: GPU6 RmInitAdapter: Cannot initialize GSP firmware RM\n[20.2] NVRM: GPU 0000:a1:00.0: RmInitAdapter failed! (0x62:0x40:2168)\n[20.3] NVRM: GPU 0000:a1:00.0: rm_init_adapter failed, device minor number 7\n",
			[]nvidia.XidEvent{{Kind: "driver", PCI: "0000:a1:00", Text: "RmInitAdapter failed! (0x62:0x40:2168)", Count: 1, First: "20.2", Last: "20.2"}},
		},
		// NVIDIA/NVSentinel issue 155 (driver 570.158): a GPU of which the driver prints no Xid. The second
		// form is that of journalctl (leptonai/gpud pull request 1209).
		"off the bus without an Xid": {
			boot + "[ 1843.3] NVRM: The NVIDIA GPU 0000:b3:00.0\n               NVRM: (PCI ID: 10de:26b5) installed in this system has\n               NVRM: fallen off the bus and is not responding to commands.\n",
			[]nvidia.XidEvent{{Kind: "Xid", Code: 79, PCI: "0000:b3:00", Text: "fallen off the bus and is not responding to commands.", Count: 1}},
		},
		"off the bus without an Xid, in the journal": {
			"Feb 14 05:03:42 host kernel: NVRM: The NVIDIA GPU 0000:B3:00.0\nFeb 14 05:03:42 host kernel: NVRM: (PCI ID: 10de:26b5) installed in this system has\nFeb 14 05:03:42 host kernel: NVRM: fallen off the bus and is not responding to commands.\n",
			[]nvidia.XidEvent{{Kind: "Xid", Code: 79, PCI: "0000:b3:00", Text: "fallen off the bus and is not responding to commands.", Count: 1, First: "Feb 14 05:03:42", Last: "Feb 14 05:03:42"}},
		},
		"off the bus on one line": { // Bumblebee-Project/Bumblebee issue 554
			"[   49.2] NVRM: GPU at 0000:01:00.0 has fallen off the bus.\n[   49.3] NVRM: os_pci_init_handle: invalid context!\n[   49.4] NVRM: GPU at 0000:01:00.0 has fallen off the bus.\n",
			[]nvidia.XidEvent{{Kind: "Xid", Code: 79, PCI: "0000:01:00", Text: "GPU at 0000:01:00.0 has fallen off the bus.", Count: 2, First: "49.2", Last: "49.4"}},
		},
		"off the bus, and its Xid": {
			"[1.0] NVRM: GPU at PCI:0000:3b:00: GPU-1b1b1b1b-0000-0000-0000-000000000000\n[1.1] NVRM: Xid (PCI:0000:3b:00): 79, pid=4, GPU has fallen off the bus.\n[1.2] NVRM: GPU 0000:3b:00.0: GPU has fallen off the bus.\n" +
				"[1.3] NVRM: GPU 0000:86:00.0: GPU has fallen off the bus.\n",
			[]nvidia.XidEvent{
				{Kind: "Xid", Code: 79, PCI: "0000:3b:00", Text: "pid=4, GPU has fallen off the bus.", Count: 1, First: "1.1", Last: "1.1"},
				{Kind: "Xid", Code: 79, PCI: "0000:86:00", Text: "GPU 0000:86:00.0: GPU has fallen off the bus.", Count: 1, First: "1.3", Last: "1.3"},
			},
		},
		"repeated events are counted": {
			strings.Repeat("[3.0] NVRM: Xid (PCI:0000:01:00): 31, pid=1\n", 3) + "[4.0] NVRM: Xid (PCI:0000:01:00): 31, pid=2\n[5.0] NVRM: Xid (PCI:0000:02:00): 31, pid=2\n",
			[]nvidia.XidEvent{
				{Kind: "Xid", Code: 31, PCI: "0000:01:00", Text: "pid=1", Count: 4, First: "3.0", Last: "4.0"},
				{Kind: "Xid", Code: 31, PCI: "0000:02:00", Text: "pid=2", Count: 1, First: "5.0", Last: "5.0"},
			},
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := nvidia.ParseXids([]byte(tt.in))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, got.Events); diff != "" {
				t.Error(diff)
			}
			if got.FromBoot != strings.HasPrefix(tt.in, boot) {
				t.Errorf("fromBoot %v", got.FromBoot)
			}
		})
	}
}

func TestParseXidRefuses(t *testing.T) {
	t.Parallel()
	tests := map[string]struct{ in, want string }{
		"nothing":             {"\n", "dmesg_restrict"},
		"another program":     {"bash: dmesg: command not found\n", "not a kernel log"},
		"UTF-16":              {"\xff\xfe[\x00", "not a kernel log"},
		"an unknown Xid form": {boot + "[1.0] NVRM: Xid (GPU 3): 79, gone\n", "expected"},
		"cut in an Xid":       {boot + "[1.0] NVRM: Xid (PCI:0000:01:00", "expected"},
		"an Xid without code": {boot + "[1.0] NVRM: Xid (PCI:0000:01:00): , gone\n", "expected"},
		"off an unknown bus":  {boot + "[1.0] NVRM: fallen off the bus and is not responding to commands.\n", "without its address"},
		"an address far away": {boot + "[1.0] NVRM: The NVIDIA GPU 0000:b3:00.0\n" + strings.Repeat("[1.0] x\n", 20) + "[1.0] NVRM: fallen off the bus and is not responding to commands.\n", "without its address"},
		"a huge code":         {boot + "[1.0] NVRM: Xid (PCI:0000:01:00): 99999999999999999999, gone\n", "invalid error code"},
		"a huge line":         {boot + "[1.0] " + strings.Repeat("x", 2<<20), "longer than"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if _, err := nvidia.ParseXids([]byte(tt.in)); err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %v, want %q", err, tt.want)
			}
		})
	}
}

func FuzzParseXid(f *testing.F) {
	f.Add([]byte(boot))
	f.Add([]byte("[1.0] NVRM: Xid (PCI:0000:01:00): 79, GPU has fallen off the bus.\n"))
	f.Add([]byte("[2.0] nvidia-nvswitch0: SXid (PCI:0000:05:00.0): 20034, Fatal, Link 62 LTSSM Fault Up\n"))
	f.Add([]byte("NVRM: Xid (PCI:0008:01:00): 154, GPU recovery action changed from 0x4 (Drain and Reset) to 0x1 (GPU Reset Required)"))
	f.Fuzz(func(t *testing.T, data []byte) {
		log, err := nvidia.ParseXids(data)
		if err != nil {
			return
		}
		for _, e := range log.Events {
			if e.PCI == "" || e.Count < 1 || (e.Kind != nvidia.KindXid && e.Kind != nvidia.KindSXid && e.Kind != nvidia.KindDriver) {
				t.Errorf("a half event: %+v", e)
			}
		}
	})
}
