package node

import (
	"cmp"
	"context"
	"encoding/json"
	"slices"
	"strings"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/probe/nvidia"
	"github.com/firstlight/firstlight/internal/profile"
	"github.com/firstlight/firstlight/internal/site"
)

// The kinds of the observations of the previous round, of a low-load watch.
const (
	kindPrevious       = "nvidia-smi-previous"
	kindErrorsPrevious = "nvidia-smi-nvlink-errors-previous"
	kindKernelPrevious = "dmesg-previous"
)

// KernelLog is the kind of the observations of kernel logs.
const KernelLog = kindKernel

// LowLoad is gate 3 for a watch of nodes in use: the commands and rules of the gate without its
// diagnostic. It puts no load on a GPU. Growth of counters is that since the previous round.
type LowLoad struct{ gate *Gate }

// NewLowLoad returns the watch of a site's nodes.
func NewLowLoad(s *site.Site, p *profile.Profile, deps Deps) *LowLoad {
	g := New(s, p, deps)
	g.lowLoad = true
	return &LowLoad{gate: g}
}

// Describe lists the commands of Observe.
func (l *LowLoad) Describe() []string {
	return l.gate.lines(l.gate.commands())
}

// Nodes are the names of the nodes.
func (l *LowLoad) Nodes() []string { return l.gate.Nodes() }

// Concurrency is the number of hosts to observe concurrently.
func (l *LowLoad) Concurrency() int { return l.gate.concurrency() }

// Kinds are the kinds of the observations of a node, in the order of Observe.
func (l *LowLoad) Kinds() []string {
	var out []string
	for _, c := range l.gate.commands() {
		out = append(out, c.kind)
	}
	return out
}

// Observe runs the commands on one host. Its error is the recorder's or the context's.
func (l *LowLoad) Observe(ctx context.Context, rec check.Recorder, host string) error {
	if l.gate.deps.Hosts == nil {
		return errNoHosts
	}
	return l.gate.observeHost(ctx, rec, host, l.gate.commands(), podFigures{})
}

// HostFinding is a finding about a node, with the kind of the observation that shows it.
type HostFinding struct {
	Node, Kind string
	// Verdict is check.Failed or check.Unobserved.
	Verdict check.Verdict
	// Lasting: the defect does not pass by itself, so that one observation confirms it.
	Lasting bool
	check.Finding
}

// Judge judges one round of all nodes. previous are observations of Keep, if there are any. It is
// pure. A kind that was not observed on a node, or has no figures, always has a finding.
func (l *LowLoad) Judge(previous, now []check.Observation) []HostFinding {
	obs := slices.Clone(now)
	for _, o := range previous {
		switch o.Kind {
		case kindBefore:
			o.Kind = kindPrevious
		case kindErrorsBefore:
			o.Kind = kindErrorsPrevious
		case kindKernel:
			o.Kind = kindKernelPrevious
		default:
			continue
		}
		o.ID = "" // findings name observations of this round
		obs = append(obs, o)
	}
	kinds := map[string]string{} // by observation
	for _, o := range now {
		kinds[o.ID] = o.Kind
	}
	var out []HostFinding
	add := func(findings []check.Finding, v check.Verdict, lasting bool) {
		for _, f := range findings {
			kind := kindBefore // rules about a node without an observation of their own
			if len(f.Observations) > 0 {
				kind = cmp.Or(kinds[f.Observations[0]], kindBefore)
			}
			node, _, _ := strings.Cut(f.Suspect, "/")
			out = append(out, HostFinding{Node: node, Kind: kind, Verdict: v, Lasting: lasting, Finding: f})
		}
	}
	all := l.gate.judgeAll(l.gate.hosts(obs)).Findings()
	add(all.Lasting, check.Failed, true)
	add(all.Failed, check.Failed, false)
	add(all.Unobserved, check.Unobserved, false)
	return append(out, l.missing(now)...)
}

// missing are the findings of kinds that were not observed. If an earlier command of a node has
// failed, those after it that were not run have no message of their own.
func (l *LowLoad) missing(now []check.Observation) []HostFinding {
	type key struct{ host, kind string }
	last := map[key]check.Observation{}
	for _, o := range now {
		last[key{o.Target, o.Kind}] = o
	}
	var out []HostFinding
	for _, node := range l.Nodes() {
		for _, kind := range l.Kinds() {
			o, ran := last[key{node, kind}]
			f := HostFinding{Node: node, Kind: kind, Verdict: check.Unobserved}
			switch {
			case !ran:
				f.Finding = check.NewFinding("", node, remedyUnobserved, "was not observed: %s", kind+notRun)
			case o.Failed():
				f.Finding = check.NewFinding(o.ID, node, remedyUnobserved, "was not observed: %s", cmp.Or(o.Err, kind+" has no figures"))
			case kind == kindBefore && !l.read(o):
				f.Finding = check.NewFinding(o.ID, node, remedyUnobserved, "was not observed: %s", kind+noDocument)
			default:
				continue
			}
			out = append(out, f)
		}
	}
	return out
}

func (l *LowLoad) read(o check.Observation) bool {
	f, err := check.Decode[smiFigures](o)
	return err == nil && f.read()
}

// NotRun reports whether a finding only says that a command was not run: the host's first finding
// has the reason.
func (f HostFinding) NotRun() bool {
	return f.Verdict == check.Unobserved && strings.HasSuffix(f.Message, notRun)
}

// Keep are the observations that the next round is compared with: the newest counters of each host,
// and its kernel log with the errors of earlier rounds.
func (l *LowLoad) Keep(previous, now []check.Observation) []check.Observation {
	type key struct{ host, kind string }
	kept := []string{kindBefore, kindErrorsBefore, kindKernel}
	newest := map[key]check.Observation{}
	for _, o := range slices.Concat(previous, now) {
		if !slices.Contains(kept, o.Kind) || o.Failed() {
			continue
		}
		o.Raw = nil
		of := key{o.Target, o.Kind}
		if earlier, ok := newest[of]; ok && o.Kind == kindKernel {
			o = sinceLog(earlier, o)
		}
		newest[of] = o
	}
	var out []check.Observation
	for _, node := range l.Nodes() {
		for _, kind := range kept {
			if o, ok := newest[key{node, kind}]; ok {
				out = append(out, o)
			}
		}
	}
	return out
}

// sinceLog is a kernel log with the errors of an earlier one. One that cannot be read is kept as it is.
func sinceLog(earlier, o check.Observation) check.Observation {
	was, errWas := check.Decode[nvidia.XidLog](earlier)
	is, errIs := check.Decode[nvidia.XidLog](o)
	if errIs != nil {
		return earlier
	}
	if errWas != nil {
		return o
	}
	if data, err := json.Marshal(is.Since(was)); err == nil {
		o.Figures = data
	}
	return o
}

// span names the time over which counters are compared.
type span struct{ during, after, both string }

func (g *Gate) span() span {
	if g.lowLoad {
		return span{"since the previous round", "now", "in this round and the previous one"}
	}
	return span{"during the diagnostic", "after the diagnostic", "before and after the diagnostic"}
}
