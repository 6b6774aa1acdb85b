package nccl_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/firstlight/firstlight/internal/probe/nccl"
)

// Lines of NCCL behind the label of a launcher, and several in one line: launchers and terminals pass output on in
// pieces, and NCCL prints a line with its end at once: of two lines with nothing between, the first has lost its end (issues of NVIDIA/nccl: 1422 of mpirun, 302 of Kubernetes; aws/aws-ofi-nccl 889 of CloudWatch;
// deepseek-ai/DeepEP 106 of a terminal).
func TestParseJoinedLines(t *testing.T) {
	t.Parallel()
	const (
		send    = "node-1:1:2 [0] NCCL INFO Channel 00/0 : 0[0] -> 8[0] [send] via NET/IB/0"
		receive = "node-2:1:2 [0] NCCL INFO Channel 00/0 : 0[0] -> 8[0] [receive] via NET/IB/1/GDRDMA"
		list    = "node-1:1:2 [0] NCCL INFO NET/IB : Using [0]mlx5_0:1/IB [1]mlx5_1:1/I"
		tree    = "node-2:1:9 [0] NCCL INFO Connected all trees\n"
	)
	sent := nccl.Channel{Host: "node-1", From: 0, To: 8, Direction: "send", Transport: "NET/IB", Count: 1}
	received := nccl.Channel{Host: "node-2", From: 0, To: 8, Direction: "receive", Transport: "NET/IB", Device: 1, GDR: true, Count: 1}
	for name, tt := range map[string]struct {
		text   string
		want   []nccl.Channel
		lines  int
		joined int
		cut    int
	}{
		"two lines":                            {send + "\n" + receive + "\n", []nccl.Channel{received, sent}, 2, 0, 0},
		"blanks between":                       {tree + send + strings.Repeat(" ", 40) + receive + "\n", []nccl.Channel{received, sent}, 3, 0, 0},
		"nothing between":                      {tree + send + receive + "\n", []nccl.Channel{received}, 3, 1, 1},
		"cut in the word GDRDMA":               {tree + send + "/GD" + receive + "\nRDMA\n", []nccl.Channel{received}, 3, 1, 1},
		"cut in a list of devices":             {tree + list + receive + "\n", []nccl.Channel{received}, 3, 0, 1},
		"cut before another process's rest":    {tree + send + "/GDINFO x\n" + receive + "\n", []nccl.Channel{received}, 3, 1, 1},
		"cut in the transport":                 {tree + send[:len(send)-5] + "\n" + receive + "\n", []nccl.Channel{received}, 3, 1, 1},
		"another line of the process is whole": {tree + send + receive + "\n" + send + "\n", []nccl.Channel{received, sent}, 4, 0, 1},
		"pieces with labels":                   {"[1,0]<stdout>:" + send[:47] + "[1,8]<stdout>:" + receive + "\n[1,0]<stdout>:" + send[47:] + "\n", []nccl.Channel{received, sent}, 2, 0, 0},
		"the end of a line with a label":       {"[1,0]<stdout>:" + send + "[1,8]<stdout>:" + receive + "\n[1,0]<stdout>:\n", []nccl.Channel{received, sent}, 2, 0, 0},
		"a line with a label that never ends":  {"[1,0]<stdout>:" + send + "[1,8]<stdout>:" + receive + "\n", []nccl.Channel{received}, 1, 0, 0},
		"the host is named later":              {send + receive + "\n" + tree, []nccl.Channel{received}, 3, 1, 1},
		"the host is not known":                {send + receive + "\n", nil, 2, 1, 0},
		"the host is not known, blanks":        {send + "   " + receive + "\n", []nccl.Channel{received, sent}, 2, 0, 0},
		"the host is not known, a tab":         {send + "\t" + receive + "\n", []nccl.Channel{received, sent}, 2, 0, 0},
		"a tag between":                        {send + "[1,8]<stdout>:" + receive + "\n", []nccl.Channel{received}, 2, 1, 1},
		"a time between":                       {send + "[2026-04-28 14:14:47] " + receive + "\n", []nccl.Channel{received}, 2, 1, 1},
		"a tag and a time between":             {send + "[1,8]<stdout>:[2026-04-28 14:14:47] " + receive + "\n", []nccl.Channel{received}, 2, 1, 1},
		"two labels":                           {"[1,4]<stdout>:[4]: " + send + "\n", []nccl.Channel{sent}, 1, 0, 0},
		"Ray":                                  {"(TrainWorker pid=1834, ip=10.0.0.7) " + send + "\n", []nccl.Channel{sent}, 1, 0, 0},
		"compose":                              {"trainer-0  | " + send + "\n", []nccl.Channel{sent}, 1, 0, 0},
		"CloudWatch":                           {"2025-05-16T16:39:51.208-07:00 | " + send + "\n", []nccl.Channel{sent}, 1, 0, 0},
		"a time with its zone":                 {"2025-11-09 15:39:31.043 +08:00 [2025-11-09 07:39:30] " + send + "\n", []nccl.Channel{sent}, 1, 0, 0}, // NVIDIA/nccl issue 1905
		"the journal":                          {"Aug 17 18:42:18 gpu-01 trainer[8052]: " + send + "\n", []nccl.Channel{sent}, 1, 0, 0},
		"pdsh":                                 {"node01: " + send + "\n", []nccl.Channel{sent}, 1, 0, 0},
		"a container's log file":               {"2025-05-16T16:39:51.208123456Z stdout F " + send + "\n", []nccl.Channel{sent}, 1, 0, 0},
		"a progress bar":                       {"45/45 [00:01<00:00, 30it/s]" + send + "\n" + strings.ReplaceAll(tree, "node-2", "node-1"), []nccl.Channel{sent}, 2, 0, 0},
		"a progress bar, no host":              {"45/45 [00:01<00:00, 30it/s]" + send + "\n", nil, 0, 1, 0},
		"text that is not a label":             {"[cite_start][... (Worker pid=3590) [0m " + send + "\n", nil, 0, 1, 0},
		"a time without a blank":               {"2025-05-16T16:39:51.208-07:00" + send + "\n" + strings.ReplaceAll(tree, "node-2", "node-1"), []nccl.Channel{sent}, 2, 0, 0},
		"a host that ends as another":          {"1:1:9 [0] NCCL INFO x\n" + tree + send + receive + "\n", []nccl.Channel{received}, 4, 1, 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := nccl.ParseLog(strings.NewReader(tt.text))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, got.Channels); diff != "" {
				t.Error(diff)
			}
			for _, h := range got.Hosts {
				if len(h.HCAs) > 0 {
					t.Errorf("%s has the devices %v", h.Name, h.HCAs)
				}
			}
			if got.Lines != tt.lines || got.Joined != tt.joined || got.Cut != tt.cut {
				t.Errorf("%d lines, %d joined, %d cut, want %d, %d and %d", got.Lines, got.Joined, got.Cut, tt.lines, tt.joined, tt.cut)
			}
		})
	}
}

// The provider of libfabric that aws-ofi-nccl uses: tcp on a host whose EFA does not work (NVIDIA/nccl issue 229),
// efa of version 1.5 and of 1.16.
func TestParseProviders(t *testing.T) {
	t.Parallel()
	for text, want := range map[string][]string{
		"Selected Provider is tcp;ofi_rxm":                                               {"tcp;ofi_rxm"},
		"Selected Provider is efa (found 16 nics)":                                       {"efa"},
		"Selected provider is efa, fabric is efa-direct (found 32 nics)":                 {"efa"},
		"Selected Provider is efa\nh:2:2 [1] NCCL INFO NET/OFI Selected Provider is tcp": {"efa", "tcp"},
	} {
		got, err := nccl.ParseLog(strings.NewReader("h:1:2 [0] NCCL INFO NET/OFI " + text + "\n"))
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got.Hosts[0].Providers); diff != "" {
			t.Errorf("%s: %s", text, diff)
		}
	}
}

// Where in NCCL a warning is from says what failed (NVIDIA/nccl issues 1788, 2.26 on H100, and 2303, 2.30.7 on GB200, which
// prints the function, too). The last text only looks like a function.
func TestParseSourceOfWarnings(t *testing.T) {
	t.Parallel()
	const tree = "h:1:3 [0] NCCL INFO Connected all trees"
	for text, want := range map[string]nccl.Warning{
		"[2025-07-21 19:05:29] h:1:2 [1] transport/nvls.cc:254 NCCL WARN Cuda failure 401 'the operation cannot be performed in the present state'":                         {Source: "transport/nvls.cc:254", Text: "Cuda failure 401 'the operation cannot be performed in the present state'"},
		"[2026-07-23 04:16:01] h:2619531:2620804 [1] misc/strongstream.cc:424 (ncclStrongStreamSynchronize) NCCL WARN Cuda failure 'unspecified launch failure'":            {Source: "misc/strongstream.cc:424", Text: "Cuda failure 'unspecified launch failure'"},
		tree + "[2026-07-23 04:16:01] h:1:2 [1] init.cc:2745 (commDestroySync) NCCL WARN commDestroySync: comm 0x3a0f7f50 rank 1 sync deviceStream error 1\n" + tree + "\n": {Source: "init.cc:2745", Text: "commDestroySync: comm 0x3a0f7f50 rank 1 sync deviceStream error 1"},
		"h:1:2 [1] init.cc:2745 NCCL WARN (x) NCCL WARN": {Source: "init.cc:2745", Text: "(x) NCCL WARN"},
	} {
		got, err := nccl.ParseLog(strings.NewReader(text + "\n"))
		if err != nil {
			t.Fatal(err)
		}
		want.Host = "h"
		if diff := cmp.Diff([]nccl.Warning{want}, got.Warnings); diff != "" {
			t.Errorf("%s: %s", text, diff)
		}
	}
}
