package fabric

import (
	"fmt"
	"slices"
	"strings"

	"github.com/firstlight/firstlight/internal/check"
)

// verdict gathers what the parts of the judgement find.
type verdict struct {
	failed []check.Finding
	unseen []check.Finding
	// noted is worth knowing and fails nothing.
	noted   []check.Finding
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

func finding(o check.Observation, suspect, message, remedy string) check.Finding {
	f := check.Finding{Suspect: suspect, Message: message, Remedy: remedy}
	if o.ID != "" {
		f.Observations = []string{o.ID}
	}
	return f
}

// Judge implements check.Check.
func (g *Gate) Judge(obs []check.Observation) check.Judgement {
	v := &verdict{}
	if len(g.site.Inventory.Nodes) == 0 || len(g.site.Fabric.HCAs) == 0 || g.site.Fabric.Links == 0 {
		v.miss(check.Observation{}, "site fabric", "the site expects no adapter or no link, so there is nothing to judge", "declare inventory.nodes, fabric.hcas and fabric.links in the site")
	}
	who := g.names(obs)
	adapters := g.adapters(v, obs)
	judgeGUIDs(v, adapters) // first: one that is there twice is missing in the subnet
	cabled := g.judgeLinks(v, obs, who)
	lid := g.judgeSM(v, obs)
	g.judgePorts(v, obs, lid)
	judgeFirmware(v, adapters)
	judgeMTU(v, adapters)
	judgeKeys(v, adapters)
	g.judgeCounters(v, obs, cabled, who)
	g.judgeDiag(v, obs, cabled, who)
	failed, noted := merge(v.failed), merge(v.noted)
	switch {
	case len(failed) > 0:
		j := check.Fail(summary(failed), slices.Concat(failed, v.unseen, noted)...)
		j.Figures = v.figures
		return j
	case len(v.unseen) > 0:
		j := check.CouldNotObserve(fmt.Sprintf("%d things could not be seen: %s", len(v.unseen), v.unseen[0].Message), slices.Concat(v.unseen, noted)...)
		j.Figures = v.figures
		return j
	default:
		j := check.Pass(fmt.Sprintf("%d links up at %g Gb/s, one subnet manager, no new errors in %s",
			g.site.Fabric.Links, g.profile.Fabric.Rate.Value, g.site.Fabric.Soak.D()), v.figures...)
		j.Findings = noted
		return j
	}
}

// summary is the reason of a failure in one line: who, and how many more.
func summary(failed []check.Finding) string {
	text, _, _ := strings.Cut(failed[0].Message, "; ")
	if len(failed) > 1 {
		text += fmt.Sprintf(" (and %d more findings)", len(failed)-1)
	}
	return text
}

// merge puts the findings of one suspect into one, in the order they came.
func merge(findings []check.Finding) []check.Finding {
	var out []check.Finding
	at := map[string]int{}
	for _, f := range findings {
		i, ok := at[f.Suspect]
		if !ok {
			at[f.Suspect] = len(out)
			out = append(out, f)
			continue
		}
		if !strings.Contains(out[i].Message, f.Message) {
			out[i].Message += "; " + f.Message
		}
		for _, id := range f.Observations {
			if !slices.Contains(out[i].Observations, id) {
				out[i].Observations = append(out[i].Observations, id)
			}
		}
	}
	return out
}

// one decodes the only observation of a kind; what is missing is noted.
func one[T any](v *verdict, obs []check.Observation, kind, remedy string) (T, check.Observation, bool) {
	var zero T
	seen := check.OfKind(obs, kind)
	if len(seen) == 0 {
		v.miss(check.Observation{}, "fabric", kind+" was not run", remedy)
		return zero, check.Observation{}, false
	}
	o := seen[len(seen)-1]
	figures, err := check.Decode[T](o)
	if err != nil {
		v.miss(o, o.Target, err.Error(), remedy)
		return zero, o, false
	}
	return figures, o, true
}
