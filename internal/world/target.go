package world

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/firstlight/firstlight/internal/world/fabric"
)

// Forms of fault targets.
const (
	FormCluster     = "cluster"
	FormNode        = "NODE"
	FormNodeCluster = "NODE or cluster"
	FormGPU         = "NODE/gpuN"
	FormLink        = "NODE/HCA or SWITCH/PORT"
	FormHCA         = "NODE/HCA"
	FormPDU         = "PDU"
)

// target is a resolved target: indices into a State.
type target struct {
	cluster bool
	node    int
	gpu     int
	link    int
	hca     int
	pdu     int
}

// resolve resolves a target of a form.
func (s State) resolve(form, text string) (target, error) {
	t := target{node: -1, gpu: -1, link: -1, hca: -1, pdu: -1}
	switch form {
	case FormCluster:
		t.cluster = text == FormCluster
		if !t.cluster {
			return t, fmt.Errorf("invalid target %q: must be %q", text, FormCluster)
		}
		return t, nil
	case FormNodeCluster:
		if t.cluster = text == FormCluster; t.cluster {
			return t, nil
		}
		return s.resolveNode(t, text)
	case FormNode:
		return s.resolveNode(t, text)
	case FormGPU:
		return s.resolveGPU(t, text)
	case FormLink:
		return s.resolveLink(t, text)
	case FormHCA:
		return s.resolveHCA(t, text)
	case FormPDU:
		t.pdu = slices.IndexFunc(s.Facility.PDUs, func(p PDU) bool { return p.ID == text })
		if t.pdu < 0 {
			return t, fmt.Errorf("unknown PDU %q: want one of %s", text, s.pduNames())
		}
		return t, nil
	}
	return t, fmt.Errorf("unknown target form %q", form)
}

func (s State) resolveNode(t target, text string) (target, error) {
	t.node = s.gpuNodeIndex(text)
	if t.node < 0 {
		return t, fmt.Errorf("unknown GPU node %q: want one of %s", text, s.nodeNames())
	}
	return t, nil
}

func (s State) resolveGPU(t target, text string) (target, error) {
	name, gpu, _ := strings.Cut(text, "/gpu")
	t.node = s.gpuNodeIndex(name)
	n, err := strconv.Atoi(gpu)
	if err != nil || t.node < 0 || n < 0 || n >= len(s.Nodes[t.node].GPUs) {
		return t, fmt.Errorf("unknown GPU %q: want %s with nodes %s and GPUs 0 to %d", text, FormGPU, s.nodeNames(), s.Hardware.Node.GPUs-1)
	}
	t.gpu = n
	return t, nil
}

func (s State) resolveLink(t target, text string) (target, error) {
	t.link = slices.IndexFunc(s.Links, func(l fabric.Link) bool { return l.A.Name() == text || l.B.Name() == text })
	if t.link < 0 {
		return t, fmt.Errorf("unknown link %q: want %s with nodes %s and switches %s", text, FormLink, s.nodeNames(), s.switchNames())
	}
	t.node = s.gpuNodeIndex(s.Links[t.link].A.Node)
	return t, nil
}

func (s State) resolveHCA(t target, text string) (target, error) {
	name, device, _ := strings.Cut(text, "/")
	if t.node = s.gpuNodeIndex(name); t.node >= 0 {
		t.hca = slices.IndexFunc(s.Nodes[t.node].HCAs, func(h fabric.HCA) bool { return h.Name == device })
	}
	if t.hca < 0 {
		return t, fmt.Errorf("unknown adapter %q: want %s with nodes %s", text, FormHCA, s.nodeNames())
	}
	return t, nil
}

func (s State) gpuNodeIndex(name string) int {
	for i := range s.Nodes {
		if n := &s.Nodes[i]; n.Name == name && !n.System {
			return i
		}
	}
	return -1
}

// defaultTarget returns the kind's default target, or the first of its form if this world does not
// have it.
func (s State) defaultTarget(k FaultKind) string {
	if _, err := s.resolve(k.TargetForm, k.DefaultTarget); err == nil {
		return k.DefaultTarget
	}
	switch k.TargetForm {
	case FormNode, FormNodeCluster:
		return s.Nodes[0].Name
	case FormGPU:
		return s.Nodes[0].Name + "/gpu0"
	case FormLink:
		if len(s.Links) > 0 {
			return s.Links[0].A.Name()
		}
	case FormHCA:
		if len(s.Nodes[0].HCAs) > 0 {
			return s.Nodes[0].Name + "/" + s.Nodes[0].HCAs[0].Name
		}
	case FormPDU:
		if len(s.Facility.PDUs) > 0 {
			return s.Facility.PDUs[0].ID
		}
	}
	return FormCluster
}

// lacks returns what the kind of fault needs and the hardware does not have; empty: nothing.
func (s State) lacks(k FaultKind) string {
	if missing := s.lacksFabric(k); missing != "" {
		return missing
	}
	switch {
	case s.Hardware.Node.NVLinkDomain > 0 && slices.Contains([]string{"rail-slow", "uplinks-oversubscribed"}, k.Kind):
		return "collectives over the compute fabric: NVLink connects the nodes"
	case len(s.GPUNodes()) < 3 && k.Kind == "uplinks-oversubscribed":
		return "third GPU node"
	case k.MultiNode && s.Hardware.Node.NVLinkDomain == 0:
		return "NVLink between nodes"
	case s.Hardware.Node.NVLinkDomain > 0 && strings.HasPrefix(k.Kind, "fabric-manager-"):
		return "NVSwitches on a board"
	case s.Hardware.GPU.NVLinks == 0 && slices.Contains([]string{"nvlink-down", "nvlink-errors", "fabric-manager-down", "fabric-manager-version", "nvlink-fabric-degraded"}, k.Kind):
		return "NVLinks"
	case (k.Kind == "gpu-slow-in-lockstep" || k.Kind == "power-capped-later") && len(s.GPUNodes())*s.Hardware.Node.GPUs < 2:
		return "second GPU to compare with"
	case s.Hardware.Node.Governor == "" && k.Kind == "cpu-governor":
		return "CPU frequency scaling"
	case s.Hardware.Node.HugePages == 0 && k.Kind == "hugepages-missing":
		return "huge pages"
	case len(s.GPUNodes()) < 2 && slices.Contains([]string{"rail-slow", "ssh-hosts-swapped", "exporter-hosts-swapped", "image-digest-mixed", "checkpoint-not-mounted"}, k.Kind):
		return "second GPU node"
	case s.Hardware.Node.GPUs < 2 && k.Kind == "exporter-pod-mapping-wrong":
		return "second GPU per node"
	}
	return ""
}

// lacksFabric returns what the kind of fault needs of the compute fabric and the hardware does not have.
func (s State) lacksFabric(k FaultKind) string {
	switch {
	case k.Kind == "straggler-node": // independent of the interconnect
		return ""
	case s.Hardware.GPU.NVLinks > 0 && slices.Contains([]string{"nvls-lost", "data-corruption", "truncated-run"}, k.Kind): // collectives of one node, too
		return ""
	case len(s.Links) == 0 && (k.Gate == "fabric" || k.Gate == "collective" || k.Kind == "rdma-resource-missing" || k.TargetForm == FormHCA):
		return "compute fabric"
	case k.Fabric != "" && k.Fabric != s.fabricKind():
		return map[string]string{InfiniBand: "InfiniBand subnet", RoCE: "RoCE fabric", EFA: "EFA adapters"}[k.Fabric]
	case slices.Contains([]string{"acs-enabled", "iommu-translated"}, k.Kind) && (s.Hardware.virtual() || s.Hardware.Node.Arch != "" || s.Hardware.Node.HCAs == 0):
		return "x86 processors without a hypervisor, and a compute fabric"
	case k.TargetForm == FormLink && s.fabricKind() == EFA:
		return "cable that a host shows: its fabric is the cloud's"
	default:
		return ""
	}
}

// SuspectPattern returns the regular expression that a finding about an active fault must match,
// or nil if the kind has no suspect.
func (w *World) SuspectPattern(f Fault) (*regexp.Regexp, error) {
	kind, ok := findKind(f.Kind)
	if !ok || kind.Suspect == "" {
		return nil, nil
	}
	s := w.State()
	t, err := s.resolve(kind.TargetForm, f.Target)
	if err != nil {
		return nil, fmt.Errorf("suspect of fault %s: %w", f.Kind, err)
	}
	var pairs []string
	add := func(key, value string) { pairs = append(pairs, "{"+key+"}", value) }
	if t.node >= 0 {
		add("node", regexp.QuoteMeta(s.Nodes[t.node].Name))
		add("domain", regexp.QuoteMeta(s.Nodes[t.node].NVLinkCluster)+`\.\d+`)
	} else if t.cluster {
		add("node", `\S+`)
	}
	if t.gpu >= 0 {
		g := s.Nodes[t.node].GPUs[t.gpu]
		add("gpu", fmt.Sprintf(`(?i:gpu[ /:#-]?%d\b|%s|%s)`, g.Index, regexp.QuoteMeta(g.UUID), regexp.QuoteMeta(strings.TrimPrefix(g.BusID, "0000:"))))
	}
	if t.link >= 0 {
		l := s.Links[t.link]
		add("link", "("+endPattern(l.A)+"|"+endPattern(l.B)+pairPattern(l)+")")
	}
	if t.hca >= 0 {
		add("hca", regexp.QuoteMeta(s.Nodes[t.node].HCAs[t.hca].Name)+`\b`)
	}
	if t.pdu >= 0 {
		add("pdu", regexp.QuoteMeta(s.Facility.PDUs[t.pdu].ID))
	}
	add("target", regexp.QuoteMeta(f.Target))
	re, err := regexp.Compile(strings.NewReplacer(pairs...).Replace(kind.Suspect))
	if err != nil {
		return nil, fmt.Errorf("suspect of fault %s: %w", f.Kind, err)
	}
	return re, nil
}

// pairPattern matches the two switches of an uplink too: a dead cable between them shows as a
// missing link without port numbers.
func pairPattern(l fabric.Link) string {
	if l.A.Device != "" {
		return ""
	}
	a, b := regexp.QuoteMeta(l.A.Node)+`\b`, regexp.QuoteMeta(l.B.Node)+`\b`
	return "|" + a + ".*" + b + "|" + b + ".*" + a
}

// endPattern matches the notations of one end of a link.
func endPattern(e fabric.End) string {
	if e.Device != "" {
		return regexp.QuoteMeta(e.Node) + `.*` + regexp.QuoteMeta(e.Device) + `\b`
	}
	return regexp.QuoteMeta(e.Node) + `\b.*\D` + strconv.Itoa(e.Port) + `\b`
}

func (s State) nodeNames() string {
	var names []string
	for _, n := range s.GPUNodes() {
		names = append(names, n.Name)
	}
	return strings.Join(names, ", ")
}

func (s State) switchNames() string {
	var names []string
	for _, sw := range s.Switches {
		names = append(names, sw.Name)
	}
	return strings.Join(names, ", ")
}

func (s State) pduNames() string {
	var names []string
	for _, p := range s.Facility.PDUs {
		names = append(names, p.ID)
	}
	return strings.Join(names, ", ")
}
