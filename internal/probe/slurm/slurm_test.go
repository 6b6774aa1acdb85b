package slurm

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func captured(tb testing.TB, name string) []byte {
	tb.Helper()
	raw, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		tb.Fatal(err)
	}
	return raw
}

func TestParsePing(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		raw  []byte
		want []Controller
	}{
		"up":   {captured(t, "ping-up.txt"), []Controller{{"primary", "login", true}}},
		"down": {captured(t, "ping-down.txt"), []Controller{{"primary", "login", false}}},
		"with a backup": {[]byte("Slurmctld(primary) at ctl-1 is UP\nSlurmctld(backup) at ctl-2 is DOWN\n"),
			[]Controller{{"primary", "ctl-1", true}, {"backup", "ctl-2", false}}},
		"with two": {[]byte("Slurmctld(primary) at a is DOWN\nSlurmctld(backup1) at b is UP\nSlurmctld(backup2) at c is UP\n"),
			[]Controller{{"primary", "a", false}, {"backup1", "b", true}, {"backup2", "c", true}}},
	} {
		got, err := ParsePing(tt.raw)
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if diff := cmp.Diff(tt.want, got); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
	for _, bad := range []string{"", "Slurmctld(primary) at ctl is SLOW", "Slurmctld(primary) at ctl is UP\nscontrol: error: x"} {
		if got, err := ParsePing([]byte(bad)); err == nil {
			t.Errorf("%q: %+v", bad, got)
		}
	}
}

func TestParseConfig(t *testing.T) {
	t.Parallel()
	got, err := ParseConfig(captured(t, "config.txt"))
	want := Config{
		Cluster: "lab", Version: "22.05.8", Controllers: []string{"vm(localhost)"},
		Prolog: []string{"/srv/slurm/prolog"}, Epilog: []string{"/srv/slurm/epilog"}, PrologFlags: []string{"Alloc"},
		AccountingStorage: "accounting_storage/slurmdbd",
		AccountingTRES:    []string{"cpu", "mem", "energy", "node", "billing", "fs/disk", "vmem", "pages", "gres/gpu", "gres/gpu:h100"},
		GresTypes:         []string{"gpu"},
	}
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Error(err, diff)
	}
	// Since 24.05, programs have an index, and without a program the line is missing.
	got, err = ParseConfig([]byte("ClusterName             = a\nSLURM_VERSION           = 25.05.1\nSlurmctldHost[0]        = c1\nSlurmctldHost[1]        = c2\n" +
		"Prolog[0]               = /etc/slurm/prolog.d/*\nProlog[1]               = /etc/slurm/more\nAccountingStorageType   = accounting_storage/none\n" +
		"PrologFlags             = Alloc,Contain\nEpilog                  = (null)\n\nCgroup Support Configuration:\nProlog = x\n"))
	want = Config{Cluster: "a", Version: "25.05.1", Controllers: []string{"c1", "c2"}, Prolog: []string{"/etc/slurm/prolog.d/*", "/etc/slurm/more"}, PrologFlags: []string{"Alloc", "Contain"}}
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Error(err, diff)
	}
	for _, bad := range []string{"", "ClusterName = a\n", string(captured(t, "config-no-slurmctld.stderr"))} {
		if got, err := ParseConfig([]byte(bad)); err == nil {
			t.Errorf("%q: %+v", bad, got)
		}
	}
}

func h100(n int) []Gres { return []Gres{{Name: "gpu", Type: "h100", Count: n}} }

func TestParseNodes(t *testing.T) {
	t.Parallel()
	type seen struct {
		State, Flags, Reason string
		GPUs                 int
	}
	idle := seen{State: "IDLE", GPUs: 8}
	for name, want := range map[string][3]seen{
		"nodes-idle":          {idle, idle, idle},
		"nodes-drained":       {idle, {"IDLE", "DRAIN", "bad GPU 3 State=IDLE; see T-12 [root@", 8}, idle},
		"nodes-prolog-failed": {idle, {"IDLE", "DRAIN", "Prolog error [root@", 8}, idle},
		"nodes-epilog-failed": {idle, idle, {"IDLE", "DRAIN", "Epilog error [root@", 8}},
		"nodes-completing":    {{"IDLE", "COMPLETING", "", 8}, {"IDLE", "COMPLETING", "", 8}, {"IDLE", "COMPLETING", "", 8}},
		"nodes-allocated":     {{"ALLOCATED", "", "", 8}, {"ALLOCATED", "", "", 8}, {"ALLOCATED", "", "", 8}},
		"nodes-gres-short-and-dead": {
			{"IDLE", "DRAIN INVALID_REG", "gres/gpu count reported lower than configured (7 < 8) [root@", 8}, idle, {"IDLE", "COMPLETING NOT_RESPONDING", "", 8},
		},
	} {
		nodes, err := ParseNodes(captured(t, name+".txt"))
		if err != nil || len(nodes) != len(want) {
			t.Errorf("%s: %d nodes, %v", name, len(nodes), err)
			continue
		}
		for i, n := range nodes {
			reason, by, _ := strings.Cut(n.Reason, "[root@")
			if by != "" {
				reason += "[root@"
			}
			if got := (seen{n.State, strings.Join(n.Flags, " "), reason, n.GPUs("h100")}); got != want[i] {
				t.Errorf("%s, %s: %+v, want %+v", name, n.Name, got, want[i])
			}
			if n.Host != "localhost" || n.Version != "22.05.8" || !slices.Equal(n.Partitions, []string{"batch"}) {
				t.Errorf("%s: %+v", name, n)
			}
		}
	}
}

// Fields and states of other versions.
func TestParseNodesOfOtherVersions(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		line string
		want Node
	}{
		"20.11": {"NodeName=n1 Arch=x86_64 CoresPerSocket=1 CPUAlloc=0 CPUTot=96 CPULoad=1.15 AvailableFeatures=(null) ActiveFeatures=(null) Gres=gpu:8 NodeAddr=n1 NodeHostName=n1 OS=Linux 5.15 #1 SMP RealMemory=1 State=DOWN*+DRAIN ThreadsPerCore=1 Partitions=low,high Reason=Not responding [slurm@2021-12-24T06:51:08]",
			Node{Name: "n1", Host: "n1", State: "DOWN", Flags: []string{"DRAIN", "NOT_RESPONDING"}, Gres: []Gres{{Name: "gpu", Count: 8}}, Partitions: []string{"low", "high"}, Reason: "Not responding [slurm@2021-12-24T06:51:08]"}},
		"23.11": {"NodeName=n1 CoresPerSocket=48 CPUAlloc=0 CPUEfctv=96 Gres=gpu:h100:8(S:0-1),nic:4 GresUsed=gpu:h100:0(IDX:N/A) NodeAddr=n1 NodeHostName=n1 Version=23.11.4 State=IDLE+MAINTENANCE+RESERVED ThreadsPerCore=1 Partitions=gpu BootTime=None LastBusyTime=2024-12-08T03:38:34 ResumeAfterTime=None CfgTRES=cpu=96,mem=1T,billing=96,gres/gpu=8 AllocTRES= Comment=State=DOWN ReservationName=acceptance",
			Node{Name: "n1", Host: "n1", Version: "23.11.4", State: "IDLE", Flags: []string{"MAINTENANCE", "RESERVED"}, Gres: []Gres{{"gpu", "h100", 8}, {Name: "nic", Count: 4}}, Partitions: []string{"gpu"}}},
		"25.05": {"NodeName=n1 Gres=gpu:h100:4(S:0),gpu:h100:4(S:1) State=IDLE+CLOUD+POWERED_DOWN Partitions=gpu CfgTRES=cpu=96 Extra={\"State\":\"x\"} InstanceId=i-1",
			Node{Name: "n1", State: "IDLE", Flags: []string{"CLOUD", "POWERED_DOWN"}, Gres: []Gres{{"gpu", "h100", 4}, {"gpu", "h100", 4}}, Partitions: []string{"gpu"}}},
		"no GPUs": {"NodeName=n1 Gres=(null) State=idle~ Partitions=cpu",
			Node{Name: "n1", State: "IDLE", Flags: []string{"POWERED_DOWN"}, Partitions: []string{"cpu"}}},
	} {
		got, err := ParseNodes([]byte(tt.line + "\n"))
		if diff := cmp.Diff([]Node{tt.want}, got); diff != "" || err != nil {
			t.Errorf("%s: %v %s", name, err, diff)
		}
	}
	absent := "Node n8 not found\nNodeName=n1 Gres=(null) State=IDLE\nNode n9 not found\n"
	if got, err := ParseNodes([]byte(absent)); err != nil || len(got) != 1 || got[0].Name != "n1" {
		t.Errorf("%+v, %v", got, err)
	}
	if got, err := ParseNodes([]byte("Node n9 not found\n")); err != nil || len(got) != 0 {
		t.Errorf("%+v, %v", got, err)
	}
	for _, bad := range []string{"", "\n", "Node n1 is not found\n", "Node  not found\n", "No nodes in the system\n", "NodeName=n1 State=IDLE\n", "NodeName=n1 Gres=(null)\n", "NodeName=n1 Gres=(null) State=\n", "NodeName=n1 Gres=(null) State=?\n", "NodeName= Gres=(null) State=IDLE\n", "NodeName=n1 Gres=gpu:h100:x:8 State=IDLE\n", "NodeName=n1 Gres=gpu:h100:many State=IDLE\n"} {
		if got, err := ParseNodes([]byte(bad)); err == nil {
			t.Errorf("%q: %+v", bad, got)
		}
	}
}

// Without -o, scontrol prints a record in several lines: those after the first are indented.
func TestParseRecordsOfSeveralLines(t *testing.T) {
	t.Parallel()
	// Slurm 23.11, of a gist of prolog failures.
	const nodes = `NodeName=gpu-78 Arch=x86_64 CoresPerSocket=1 
   CPUAlloc=0 CPUEfctv=96 CPUTot=96 CPULoad=1.15
   AvailableFeatures=gpu,h100
   ActiveFeatures=gpu,h100
   Gres=gpu:8
   NodeAddr=gpu-78 NodeHostName=gpu-78 Version=23.11.0-0rc1
   OS=Linux 5.15.133+ #1 SMP Wed Nov 8 17:30:28 UTC 2023 
   RealMemory=1048576 AllocMem=0 FreeMem=1803228 Sockets=96 Boards=1
   State=IDLE+DRAIN+MAINTENANCE+RESERVED ThreadsPerCore=1 TmpDisk=0 Weight=1 Owner=N/A MCS_label=N/A
   Partitions=low,general,high 
   BootTime=2023-12-22T11:11:17 SlurmdStartTime=2023-12-22T11:11:17
   CfgTRES=cpu=96,mem=1T,billing=96
   AllocTRES=
   Reason=Prolog error: 571 xid 13 errors [root@2023-12-24T06:51:08]
          State=IDLE is what it was
   Comment=State=IDLE Gres=gpu:16
   ReservationName=example

NodeName=gpu-79 Arch=x86_64 CoresPerSocket=1 
   Gres=gpu:8(S:0-1)
   State=MIXED+PLANNED ThreadsPerCore=1
   Partitions=low 
`
	got, err := ParseNodes([]byte(nodes))
	want := []Node{
		{
			Name: "gpu-78", Host: "gpu-78", Version: "23.11.0-0rc1", State: "IDLE", Flags: []string{"DRAIN", "MAINTENANCE", "RESERVED"}, Gres: []Gres{{Name: "gpu", Count: 8}},
			Partitions: []string{"low", "general", "high"}, Reason: "Prolog error: 571 xid 13 errors [root@2023-12-24T06:51:08] State=IDLE is what it was",
		},
		{Name: "gpu-79", State: "MIXED", Flags: []string{"PLANNED"}, Partitions: []string{"low"}, Gres: []Gres{{Name: "gpu", Count: 8}}},
	}
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Error(err, diff)
	}
	for _, bad := range []string{nodes[:strings.Index(nodes, "   State=")], "   State=IDLE\n" + nodes, nodes + "State=IDLE\n", strings.Replace(nodes, "   State=M", "# State=M", 1)} {
		if got, err := ParseNodes([]byte(bad)); err == nil {
			t.Errorf("%q: %+v", bad, got)
		}
	}
	const partitions = "PartitionName=gpu\n   AllowGroups=ALL AllowAccounts=ALL AllowQos=ALL\n   AllocNodes=ALL Default=NO QoS=N/A\n   State=DRAIN TotalCPUs=6 TotalNodes=1\n\nPartitionName=cpu\n   Default=YES\n   State=UP\n"
	parts, err := ParsePartitions([]byte(partitions))
	if diff := cmp.Diff([]Partition{{Name: "gpu", State: "DRAIN"}, {Name: "cpu", State: "UP", Default: true}}, parts); diff != "" || err != nil {
		t.Error(err, diff)
	}
}

func TestParseGres(t *testing.T) {
	t.Parallel()
	for text, want := range map[string][]Gres{
		"(null)": nil, "": nil, "N/A": nil,
		"gpu":                            {{Name: "gpu", Count: 1}},
		"gpu:8":                          {{Name: "gpu", Count: 8}},
		"gpu:a100":                       {{Name: "gpu", Type: "a100", Count: 1}},
		"gpu:h100:8":                     h100(8),
		"gpu:h100:8(S:0-1)":              h100(8),
		"gpu:h100:8(S:0,3)":              h100(8),
		"gpu:h100:4(S:0),mps:h100:400":   {{"gpu", "h100", 4}, {"mps", "h100", 400}},
		"gpu:nvidia_h100_80gb_hbm3:8":    {{"gpu", "nvidia_h100_80gb_hbm3", 8}},
		"bandwidth:lustre:4K,gpu:h100:8": {{"bandwidth", "lustre", 4096}, {"gpu", "h100", 8}},
		// gres.conf(5): a resource that jobs do not consume; sinfo and scontrol of university clusters.
		"gpu:v100:4(S:0-1),min-vram:no_consume:32G":          {{"gpu", "v100", 4}, {Name: "min-vram", Count: 32 << 30}},
		"gpu:tesla:2,bandwidth:lustre:no_consume:4G,mps:400": {{"gpu", "tesla", 2}, {"bandwidth", "lustre", 4 << 30}, {Name: "mps", Count: 400}},
		// Bytes of a disk, larger than 31 bits, and the suffixes T and P (slurm.conf(5), Gres).
		"gpu:8,local_ssd:3840755982336": {{Name: "gpu", Count: 8}, {Name: "local_ssd", Count: 3840755982336}},
		"tmpdisk:2T,burst:1P,ram:64k":   {{Name: "tmpdisk", Count: 2 << 40}, {Name: "burst", Count: 1 << 50}, {Name: "ram", Count: 64 << 10}},
		// MIG devices (scontrol of a B200 and an H200 cluster).
		"gpu:h200:2(S:0-1),gpu:h200_3g.71gb:6(S:0-1)": {{"gpu", "h200", 2}, {"gpu", "h200_3g.71gb", 6}},
		"gpu:1g.10gb:7,gpu:(null):1":                  {{"gpu", "1g.10gb", 7}, {Name: "gpu", Count: 1}},
	} {
		got, err := parseGres(text)
		if diff := cmp.Diff(want, got); diff != "" || err != nil {
			t.Errorf("%q: %v %s", text, err, diff)
		}
	}
	for _, bad := range []string{"gpu:h100:x:8", "gpu:h100:many", ":8", "gpu:9999999999P", "gpu:99999999999999999999", "gpu:-1:2:3", "gpu:a:no_consume:b:1"} {
		if got, err := parseGres(bad); err == nil {
			t.Errorf("%q: %+v", bad, got)
		}
	}
	n := Node{Gres: []Gres{{"gpu", "H100", 8}, {"gpu", "a100", 2}, {Name: "nic", Count: 4}}}
	if n.GPUs("") != 10 || n.GPUs("h100") != 8 || n.GPUs("l40s") != 0 {
		t.Errorf("%+v", n)
	}
}

func TestParsePartitions(t *testing.T) {
	t.Parallel()
	for name, state := range map[string]string{"partition-up": "UP", "partition-down": "DOWN", "partition-inactive": "INACTIVE"} {
		got, err := ParsePartitions(captured(t, name+".txt"))
		if diff := cmp.Diff([]Partition{{Name: "batch", State: state, Default: true}}, got); diff != "" || err != nil {
			t.Errorf("%s: %v %s", name, err, diff)
		}
	}
	for _, bad := range []string{"", "Partition x not found", "PartitionName=a", "PartitionName=a State=7"} {
		if got, err := ParsePartitions([]byte(bad)); err == nil {
			t.Errorf("%q: %+v", bad, got)
		}
	}
}

func TestParseRecords(t *testing.T) {
	t.Parallel()
	for text, want := range map[string][]Record{
		string(captured(t, "record-completed.txt")): {{Job: "1", Name: "firstlight-telemetry-r1", State: "COMPLETED", Exit: "0:0", Nodes: 3, GPUs: 24}},
		string(captured(t, "record-none.txt")):      {},
		"7|CANCELLED by 0|0:0|1|cpu=3,node=1|a|b\n": {{Job: "7", Name: "a|b", State: "CANCELLED", Exit: "0:0", Nodes: 1}},
		"7|RUNNING|0:0|0||x\n":                      {{Job: "7", Name: "x", State: "RUNNING", Exit: "0:0"}},
		// AccountingStorageTRES may have the types of GPUs only.
		"7|COMPLETED|0:0|2|billing=64,cpu=8,gres/gpu:h200=4,gres/gpu:h200_3g.71gb=2,gres/gpumem=9|x\n": {{Job: "7", Name: "x", State: "COMPLETED", Exit: "0:0", Nodes: 2, GPUs: 6}},
	} {
		got, err := ParseRecords([]byte(text))
		if diff := cmp.Diff(want, got); diff != "" || err != nil {
			t.Errorf("%q: %v %s", text, err, diff)
		}
	}
	for _, bad := range []string{"7|COMPLETED|0:0|1|\n", "|COMPLETED|0:0|1||x\n", "7||0:0|1||x\n", "7|COMPLETED|0:0|one||x\n", "7|COMPLETED|0:0|-1||x\n", "7|COMPLETED|0:0|1|gres/gpu=some|x\n", "7|COMPLETED|0:0|1|gres/gpu:h100=some|x\n", "sacct: error: x\n"} {
		if got, err := ParseRecords([]byte(bad)); err == nil {
			t.Errorf("%q: %+v", bad, got)
		}
	}
}

func TestParseQueue(t *testing.T) {
	t.Parallel()
	got, err := ParseQueue([]byte("7|firstlight-collective-r1\n8_[1-3]|a|b\n\n"))
	if diff := cmp.Diff([]Job{{"7", "firstlight-collective-r1"}, {"8_[1-3]", "a|b"}}, got); diff != "" || err != nil {
		t.Error(err, diff)
	}
	if got, err := ParseQueue(nil); err != nil || len(got) != 0 {
		t.Errorf("%+v, %v", got, err)
	}
	for _, bad := range []string{"7\n", "|a\n", "squeue: error: x\n"} {
		if got, err := ParseQueue([]byte(bad)); err == nil {
			t.Errorf("%q: %+v", bad, got)
		}
	}
}

// No input panics, and what is read can be read by a judge: names and states are not empty.
func FuzzParse(f *testing.F) {
	entries, err := os.ReadDir("testdata")
	if err != nil {
		f.Fatal(err)
	}
	for _, e := range entries {
		if strings.HasSuffix(e.Name(), ".txt") {
			f.Add(captured(f, e.Name()))
		}
	}
	f.Add([]byte("NodeName=a Gres=gpu:x:1(S:0-1) State=idle*+DRAIN Reason=b\n"))
	f.Fuzz(func(t *testing.T, raw []byte) {
		nodes, err := ParseNodes(raw)
		if err != nil && nodes != nil || err == nil && len(nodes) == 0 && !strings.Contains(string(raw), " not found") {
			t.Errorf("%d nodes, %v", len(nodes), err)
		}
		for _, n := range nodes {
			if n.Name == "" || n.State == "" || n.GPUs("") < 0 {
				t.Errorf("%+v", n)
			}
		}
		controllers, err := ParsePing(raw)
		if (err == nil) != (len(controllers) > 0) {
			t.Errorf("%d controllers, %v", len(controllers), err)
		}
		partitions, err := ParsePartitions(raw)
		if (err == nil) != (len(partitions) > 0) {
			t.Errorf("%d partitions, %v", len(partitions), err)
		}
		if c, err := ParseConfig(raw); err == nil && (c.Cluster == "" || len(c.Controllers) == 0) {
			t.Errorf("%+v", c)
		}
		jobs, err := ParseQueue(raw)
		if err != nil && jobs != nil {
			t.Errorf("%+v, %v", jobs, err)
		}
		records, err := ParseRecords(raw)
		if err != nil && records != nil {
			t.Errorf("%+v, %v", records, err)
		}
	})
}
