package node

import (
	"fmt"
	"slices"
	"strings"

	"github.com/firstlight/firstlight/internal/check"
)

// verdict gathers what the parts of the judgement find.
type verdict struct {
	failed  []check.Finding
	unseen  []check.Finding
	noted   []check.Finding // worth knowing, no failure
	figures []check.Figure
}

func (v *verdict) fail(o check.Observation, suspect, message, remedy string) {
	v.failed = append(v.failed, finding(o, suspect, message, remedy))
}

func (v *verdict) miss(o check.Observation, suspect, message, remedy string) {
	v.unseen = append(v.unseen, finding(o, suspect, message, remedy))
}

func (v *verdict) note(o check.Observation, suspect, message, remedy string) {
	v.noted = append(v.noted, finding(o, suspect, message, remedy))
}

func (v *verdict) figure(name string, value float64, unit, relation string, limit float64, source string) {
	v.figures = append(v.figures, check.Figure{Name: name, Value: value, Unit: unit, Relation: relation, Limit: limit, Source: source})
}

func finding(o check.Observation, suspect, message, remedy string) check.Finding {
	f := check.Finding{Suspect: suspect, Message: message, Remedy: remedy}
	if o.ID != "" {
		f.Observations = []string{o.ID}
	}
	return f
}

const remedyUnseen = "make the host reachable over SSH and its tools runnable by the site's user, then run the gate again"

// Judge implements check.Check.
func (g *Gate) Judge(obs []check.Observation) check.Judgement {
	if len(g.site.Inventory.Nodes) == 0 || g.gpus() == 0 {
		return check.CouldNotObserve("the site's inventory has no GPU nodes, or the profile no GPUs a node")
	}
	hosts := g.hosts(obs)
	at := newPlaces(hosts, g.gpus())
	v := &verdict{}
	for _, h := range hosts {
		g.judgeSeen(v, h)
		g.judgePresent(v, h, at)
		for _, doc := range h.documents() {
			for _, gpu := range doc.log.GPUs {
				g.judgeGPU(v, doc.obs, at.gpu(h, gpu.BusID), gpu)
			}
		}
		g.judgeThrottling(v, h, at)
		g.judgeLoad(v, h, at)
		g.judgeNVLinks(v, h, at)
		g.judgeLinkErrors(v, h, at)
		g.judgeHCAs(v, h)
		g.judgeDiag(v, h, at)
		g.judgeKernel(v, h, at)
	}
	g.judgeSame(v, hosts, at)
	g.judgeHosts(v, hosts, at)
	g.summarise(v, hosts)
	return g.conclude(v)
}

func (g *Gate) conclude(v *verdict) check.Judgement {
	bad, unseen := merge(v.failed), merge(v.unseen)
	all := slices.Concat(bad, unseen, merge(v.noted))
	var j check.Judgement
	switch {
	case len(bad) > 0:
		j = check.Fail(summary(bad), all...)
	case len(unseen) > 0:
		j = check.CouldNotObserve(summary(unseen), all...)
	default:
		nodes := len(g.site.Inventory.Nodes)
		j = check.Pass(fmt.Sprintf("%d GPUs on %d nodes, healthy and alike; every required diagnostic passed", nodes*g.gpus(), nodes))
		j.Findings = all
	}
	j.Figures = v.figures
	return j
}

// summary names the first finding and counts the rest.
func summary(findings []check.Finding) string {
	text := fmt.Sprintf("%s: %s", findings[0].Suspect, findings[0].Message)
	if more := len(findings) - 1; more > 0 {
		text += fmt.Sprintf(" (and %d more suspects)", more)
	}
	return text
}

// merge puts the findings of one suspect into one, in the order they came; its
// remedy is the first one's, since the rest is often a consequence.
func merge(findings []check.Finding) []check.Finding {
	var out []check.Finding
	at := map[string]int{}
	said := map[string]bool{}
	for _, f := range findings {
		i, ok := at[f.Suspect]
		key := f.Suspect + "\x00" + f.Message
		switch {
		case !ok:
			at[f.Suspect] = len(out)
			out = append(out, f)
		case !said[key]:
			out[i].Message += "; " + f.Message
		}
		if ok {
			for _, id := range f.Observations {
				if !slices.Contains(out[i].Observations, id) {
					out[i].Observations = append(out[i].Observations, id)
				}
			}
		}
		said[key] = true
	}
	return out
}

// judgeSeen says what could not be seen of a host, once.
func (g *Gate) judgeSeen(v *verdict, h *host) {
	var whys []string
	var first check.Observation
	look := func(ok bool, why string, o check.Observation) {
		if ok || strings.HasSuffix(why, " was not run") && len(whys) > 0 {
			return
		}
		if len(whys) == 0 {
			first = o
		}
		whys = append(whys, why)
	}
	look(h.before.ok(), h.before.why, h.before.obs)
	look(!g.rails() || h.hcas.ok(), h.hcas.why, h.hcas.obs)
	look(h.kernel.ok(), h.kernel.why, h.kernel.obs)
	look(h.facts.ok(), h.facts.why, h.facts.obs)
	if text, _ := h.nvml(); text == "" { // else these fail for a reason that is known
		look(h.after.ok(), h.after.why, h.after.obs)
		look(h.links.ok(), h.links.why, h.links.obs)
		look(h.diag.ok(), h.diag.why, h.diag.obs)
		look(h.load.ok(), h.load.why, h.load.obs)
		for _, c := range h.counted {
			look(!g.nvlinks() || c.ok(), c.why, c.obs)
		}
	}
	if len(whys) > 0 {
		v.miss(first, h.name, "could not be seen: "+strings.Join(whys, "; "), remedyUnseen)
	}
}
