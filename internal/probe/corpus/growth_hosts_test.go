package corpus

import (
	"strings"

	"github.com/firstlight/firstlight/internal/probe/ansible"
	"github.com/firstlight/firstlight/internal/probe/corpus/growth"
	"github.com/firstlight/firstlight/internal/probe/efa"
	"github.com/firstlight/firstlight/internal/probe/infiniband"
	"github.com/firstlight/firstlight/internal/probe/linuxhost"
	"github.com/firstlight/firstlight/internal/probe/nvidia"
	"github.com/firstlight/firstlight/internal/probe/prom"
	"github.com/firstlight/firstlight/internal/probe/ray"
	"github.com/firstlight/firstlight/internal/probe/roce"
	"github.com/firstlight/firstlight/internal/probe/slurm"
	"github.com/firstlight/firstlight/internal/probe/sudo"
	"github.com/firstlight/firstlight/internal/probe/trainer"
	"github.com/firstlight/firstlight/internal/probe/vllm"
)

// otherParsers are the readers of text whose formats have no file in the corpus.
func otherParsers() map[string]func([]byte) {
	return map[string]func([]byte){
		"RoCE links":        func(b []byte) { _, _ = roce.ParseLinks(b) },
		"RoCE counters":     func(b []byte) { _, _ = roce.ParseCounters(b) },
		"RoCE devices":      func(b []byte) { _, _ = roce.ParseDevices(b) },
		"RoCE QoS":          func(b []byte) { _, _ = roce.ParseQoS(b) },
		"EFA devices":       func(b []byte) { _, _ = efa.ParseDevices(b) },
		"EFA counters":      func(b []byte) { _, _ = efa.ParseCounters(b) },
		"fi_info":           func(b []byte) { _, _ = efa.ParseEndpoints(b) },
		"ibnetdiscover":     func(b []byte) { _, _ = infiniband.ParseNetDiscover(b) },
		"Slurm config":      func(b []byte) { _, _ = slurm.ParseConfig(b) },
		"Slurm job":         func(b []byte) { _, _ = slurm.ParseJob(b) },
		"Slurm submission":  func(b []byte) { _, _ = slurm.ParseSubmitted(b) },
		"Slurm nodes":       func(b []byte) { _, _ = slurm.ReadNodes(b, b, 1) },
		"Slurm partitions":  func(b []byte) { _, _ = slurm.ParsePartitions(b) },
		"Slurm ping":        func(b []byte) { _, _ = slurm.ParsePing(b) },
		"squeue":            func(b []byte) { _, _ = slurm.ParseQueue(b) },
		"sacct":             func(b []byte) { _, _ = slurm.ParseRecords(b) },
		"Ansible hosts":     func(b []byte) { _, _ = ansible.ParseHosts(b) },
		"Ansible result":    func(b []byte) { _, _ = ansible.Parse(b) },
		"Ray version":       func(b []byte) { _, _ = ray.ParseVersion(b) },
		"Ray usage":         func(b []byte) { _, _ = ray.ParseUsage(b) },
		"Ray nodes":         func(b []byte) { _, _ = ray.ParseNodes(b) },
		"Ray groups":        func(b []byte) { _, _ = ray.ParseGroups(b) },
		"Ray submission":    func(b []byte) { _, _ = ray.ParseSubmitted(b) },
		"Ray job":           func(b []byte) { _, _ = ray.ParseJob(b) },
		"Ray log":           func(b []byte) { _, _ = ray.ParseLogs(b) },
		"host":              func(b []byte) { _, _ = linuxhost.Parse(b) },
		"host clock":        func(b []byte) { _, _ = linuxhost.ParseClock(b) },
		"modules":           func(b []byte) { _, _ = linuxhost.ParseModules(b, b) },
		"PCIe bridges":      func(b []byte) { _, _ = linuxhost.ParseBridges(b) },
		"fabric manager":    func(b []byte) { _, _ = nvidia.ParseFabricManager(b) },
		"IMEX":              func(b []byte) { _, _ = nvidia.ParseIMEX(b) },
		"dcgmi discovery":   func(b []byte) { _, _ = nvidia.ParseDiscovery(b) },
		"sudo":              func(b []byte) { _ = sudo.Refusal("a", "b", []string{"c"}, 1, b, 1) },
		"matmul":            func(b []byte) { _, _ = trainer.ParseMatmul(strings.NewReader(string(b))) },
		"checkpoints":       func(b []byte) { _, _ = trainer.ParseCheckpointTests(strings.NewReader(string(b))) },
		"completion":        func(b []byte) { _, _ = vllm.ParseCompletion(b) },
		"Prometheus config": func(b []byte) { _, _ = prom.ParseConfig(b) },
		"targets":           func(b []byte) { _, _ = prom.ParseTargets(b) },
		"Alertmanagers":     func(b []byte) { _, _ = prom.ParseAlertmanagers(b) },
		"routes":            func(b []byte) { _, _ = prom.ParseRoute(b) },
		"inhibitions":       func(b []byte) { _, _ = prom.ParseInhibitions(b) },
		"notifications":     func(b []byte) { _, _ = prom.ParseNotifications(b) },
		"histogram":         func(b []byte) { _, _ = prom.ParseHistogram(b, "a") },
	}
}

const (
	alertmanager = `{"config":{"original":"`
	prometheus   = `{"status":"success","data":{"yaml":"`
	rayList      = `{"result":true,"data":{"result":{"result":[`
)

// otherHostile are texts for these readers.
var otherHostile = []growth.Text{
	{Name: "lines", Again: "\n"},
	{Name: "indented lines", Again: "\n  "},
	{Name: "colons", Again: ": "},
	{Name: "quotes", Again: `"`},
	{Name: "objects of one key", Again: `{"a":`},
	{Name: "one key", Head: `{"a":1`, Again: `,"a":1`, Tail: "}"},
	{Name: "other keys", Head: `{"a":1`, Again: `,"a{n}":1`, Tail: "}"},
	{Name: "addresses", Head: `[{"ifname":"a","addr_info":[{"local":"10.0.0.1"}`, Again: `,{"family":"inet","local":"10.0.0.1","scope":"global"}`, Tail: "]}]"},
	{Name: "statistics", Head: "=a=\nNIC statistics:\n", Again: "a: 1\n"},
	{Name: "other statistics", Head: "=a=\nNIC statistics:\n", Again: "a{n}: 1\n"},
	{Name: "sections of devices", Again: "=a{n}=\nNIC statistics:\na: 1\n"},
	{Name: "GIDs", Again: "/sys/class/infiniband/a/ports/1/gids/1:fe80::1\n"},
	{Name: "devices of RDMA", Again: "/sys/class/infiniband/a{n}/fw_ver:1\n"},
	{Name: "states of RDMA", Again: "/sys/class/infiniband/a{n}/ports/1/state:4: ACTIVE\n"},
	{Name: "network devices", Again: "/sys/class/infiniband/a/device/net/b{n}/operstate:up\n"},
	{Name: "counters of RDMA", Again: "/sys/class/infiniband/a/ports/1/hw_counters/b{n}:1\n"},
	{Name: "priorities", Head: "=a=\nPriority trust state: dscp\n", Again: "prio:0 dscp:07,06,\n"},
	{Name: "priorities of one line", Head: "=a=\nPriority trust state: dscp\nprio:0 dscp:", Again: "07,"},
	{Name: "documents of dcb", Head: "=a=\n", Again: `{"dscp_prio":[[24,3]]}`},
	{Name: "endpoints", Again: "provider: efa\n    fabric: efa\n    domain: a{n}\n    type: FI_EP_RDM\n"},
	{Name: "switches", Again: "Switch 1 \"S-{n}\"\n[1] \"H-{n}\"[1]\n"},
	{Name: "links of a switch", Head: "Switch 64 \"S-1\"\n", Again: "[1] \"H-{n}\"[1]\n"},
	{Name: "keys of Slurm", Head: "ClusterName = a\n", Again: "Prolog[{n}] = /a\n"},
	{Name: "fields of Slurm", Head: "NodeName=a ", Again: "State=IDLE "},
	{Name: "other fields of Slurm", Head: "NodeName=a ", Again: "Key{n}=v "},
	{Name: "fields of a job", Head: "JobId=1 ", Again: "JobState=RUNNING "},
	{Name: "nodes of Slurm", Again: "NodeName=a{n} State=IDLE Gres=gpu:8 Partitions=a\n"},
	{Name: "generic resources", Head: "NodeName=a State=IDLE Gres=gpu:1", Again: ",gpu:a:1"},
	{Name: "brackets of resources", Head: "NodeName=a State=IDLE Gres=gpu:1", Again: "("},
	{Name: "states", Head: "NodeName=a State=IDLE", Again: "+DRAIN"},
	{Name: "folded records", Head: "NodeName=a", Again: " \n   A=1"},
	{Name: "absent nodes", Again: "Node a{n} not found\n"},
	{Name: "partitions", Again: "PartitionName=a{n} State=UP Nodes=a\n"},
	{Name: "controllers", Again: "Slurmctld(primary) at a is UP\n"},
	{Name: "rows of Slurm", Again: "1|COMPLETED|0:0|1|gres/gpu=1|a\n"},
	{Name: "resources of a row", Head: "1|COMPLETED|0:0|1|", Again: "gres/gpu:a=1,"},
	{Name: "plays", Again: "  play #1 (a): b\tTAGS: []\n    pattern: ['a']\n    hosts (1):\n      a\n"},
	{Name: "hosts of a play", Head: "  play #1 (a): b\tTAGS: []\n    hosts (100000000):\n", Again: "      a{n}\n"},
	{Name: "tasks", Head: `{"plays":[{"tasks":[{}`, Again: `,{"hosts":{"a":{"failed":true}},"task":{"name":"b"}}`, Tail: `]}],"stats":{}}`},
	{Name: "hosts of a task", Head: `{"plays":[{"tasks":[{"hosts":{"a":{}`, Again: `,"a{n}":{"failed":true,"msg":"b"}`, Tail: `}}]}],"stats":{}}`},
	{Name: "results of a task", Head: `{"plays":[{"tasks":[{"hosts":{"a":{"results":[{}`, Again: `,{"failed":true}`, Tail: `]}}}]}],"stats":{}}`},
	{Name: "nested results", Head: `{"plays":[{"tasks":[{"hosts":{"a":`, Again: `{"results":[`},
	{Name: "lines that begin a document", Again: "\n{"},
	{Name: "nodes of Ray", Head: rayList + "{}", Again: `,{"node_id":"a{n}","state":"ALIVE"}`, Tail: "]}}}"},
	{Name: "groups of Ray", Head: rayList + "{}", Again: `,{"placement_group_id":"a{n}","state":"CREATED","bundles":[{}]}`, Tail: "]}}}"},
	{Name: "usage of Ray", Head: `{"result":true,"data":{"clusterStatus":{"loadMetricsReport":{"usage":{"CPU":[1,1]`, Again: `,"GPU":[1,1]`, Tail: "}}}}}"},
	{Name: "bridges", Again: "0000:00:00.0 PCI bridge: a\n\tBus: primary=00, secondary=01, subordinate=02, sec-latency=0\n"},
	{Name: "controls of a bridge", Head: "0000:00:00.0 PCI bridge: a\n\tACSCtl:", Again: " ReqRedir+"},
	{Name: "controls", Head: "0000:00:00.0 PCI bridge: a\n", Again: "\tACSCtl: ReqRedir+\n"},
	{Name: "IOMMU groups", Head: "=clock=\n=name=\n=files=\n", Again: "/sys/bus/pci/drivers/nvidia/{n}/iommu_group/type:DMA\n"},
	{Name: "modules", Again: "/sys/module/a\n"},
	{Name: "fields of a unit", Head: "=unit=\n", Again: "LoadState=loaded\n", Tail: "=processes=\n=version=\n"},
	{Name: "sections", Again: "=unit=\n=processes=\n=version=\n"},
	{Name: "nodes of a domain", Head: "=unit=\n=addresses=\n=domain=\n=text=\n", Again: "Node #{n} - a - READY\n", Tail: "=daemon=\n"},
	{Name: "columns of a domain", Head: "=unit=\n=addresses=\n=domain=\n=text=\nNodes From\\To", Again: " 1", Tail: "\n=daemon=\n"},
	{Name: "lists of GPUs", Head: "dcgmi version: 4.5\n", Again: "1 GPUs found (Other).\n"},
	{Name: "errors of dcgmi", Head: "dcgmi version: 4.5\n", Again: "Error: a\n"},
	{Name: "messages of sudo", Again: "sudo: a password is required\n"},
	{Name: "targets", Head: `{"status":"success","data":{"activeTargets":[{}`, Again: `,{"labels":{"a":"b"}}`, Tail: "]}}"},
	{Name: "labels of a target", Head: `{"status":"success","data":{"activeTargets":[{"labels":{"a":"b"`, Again: `,"a{n}":"b"`, Tail: "}}]}}"},
	{Name: "series of receivers", Head: "# TYPE alertmanager_notifications_total counter\n", Again: "alertmanager_notifications_total{integration=\"a{n}\",receiver_name=\"b{n}\"} 1\n"},
	{Name: "buckets", Head: "# TYPE a histogram\n", Again: "a_bucket{le=\"{n}\"} 1\n"},
	{Name: "types", Again: "# TYPE a{n} gauge\n"},
	{Name: "jobs", Head: prometheus + `scrape_configs:\n`, Again: `- job_name: a{n}\n`, Tail: `"}}`},
	{Name: "keys of a job", Head: prometheus + `scrape_configs:\n- job_name: b\n`, Again: `  a{n}: 1\n`, Tail: `"}}`},
	{Name: "one key of YAML", Head: prometheus + `a: 1\n`, Again: `a: 1\n`, Tail: `"}}`},
	{Name: "one key of Alertmanager", Head: alertmanager + `route: {}\n`, Again: `a: 1\n`, Tail: `"}}`},
	{Name: "keys of Alertmanager", Head: alertmanager + `route: {}\n`, Again: `a{n}: 1\n`, Tail: `"}}`},
	{Name: "receivers of Alertmanager", Head: alertmanager + `receivers:\n`, Again: `- name: a{n}\n`, Tail: `"}}`},
	{Name: "integrations", Head: alertmanager + `receivers:\n- name: a\n  webhook_configs:\n`, Again: `  - url: a{n}\n`, Tail: `"}}`},
	{Name: "routes", Head: alertmanager + `route:\n  routes:\n`, Again: `  - matchers: [a=b]\n`, Tail: `"}}`},
	{Name: "matchers", Head: alertmanager + `route:\n  matchers:\n`, Again: `  - a{n}=b\n`, Tail: `"}}`},
	{Name: "matchers in a text", Head: alertmanager + `route:\n  matchers: ['`, Again: `a=b,`, Tail: `a=b']\n"}}`},
	{Name: "regular expressions", Head: alertmanager + `route:\n  match_re: {a: '`, Again: `(b|`, Tail: `'}\n"}}`},
	{Name: "inhibitions", Head: alertmanager + `inhibit_rules:\n`, Again: `- source_matchers: [a=b]\n`, Tail: `"}}`},
	{Name: "brackets of Alertmanager", Head: alertmanager + `receivers: `, Again: `[`, Tail: `"}}`},
	{Name: "aliases", Head: alertmanager + `a: &a {b: c}\nreceivers: [`, Again: `*a,`, Tail: `*a]\n"}}`},
	{Name: "aliases of aliases", Head: alertmanager + `a: &a0 [b]\n`, Again: `a{n}0: &a{n}0 [*a0, *a0]\n`, Tail: `"}}`},
	{Name: "directives", Head: alertmanager, Again: `%TAG !a{n}! b\n`, Tail: `---\nroute: {}\n"}}`},
	{Name: "comments", Head: alertmanager + `route: {}\n`, Again: `# a\n`, Tail: `"}}`},
	{Name: "documents", Head: alertmanager + `route: {}\n`, Again: `---\na: 1\n`, Tail: `"}}`},
}
