package accept

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/firstlight/firstlight/internal/evidence"
	"github.com/firstlight/firstlight/internal/evidence/redact"
	"github.com/firstlight/firstlight/internal/gate/facility"
	"github.com/firstlight/firstlight/internal/profile"
	"github.com/firstlight/firstlight/internal/site"
	"github.com/firstlight/firstlight/internal/yamlstrict"
)

// demand is what verdicts are valid for: documents, cluster and time.
type demand struct {
	// cluster may wait until the cluster is ready.
	cluster func(ctx context.Context) identity
	// leaves are the values of site, profile, recipe and inputs, by document and path.
	leaves map[string]string
	// hosts are the SSH key fingerprints of the hosts, by name.
	hosts map[string]string
	// steps are the checks, with the reason for each check that is not applicable.
	steps   []string
	signOff site.SignOff
	// reached are the times of the verdicts, by step, and of the run itself.
	reached map[string]time.Time
	// at is the current time.
	at time.Time
}

// namedDifferences is the most differences of documents in a message.
const namedDifferences = 5

// differences compares two demands. Verdicts are kept only without a difference. The cluster
// is compared last, since it may take minutes to start.
func differences(ctx context.Context, then, now demand, l limits) []string {
	out := differentLeaves(then.leaves, now.leaves)
	if !slices.Equal(then.steps, now.steps) {
		out = append(out, fmt.Sprintf("checks: %s then, %s now", strings.Join(then.steps, ", "), strings.Join(now.steps, ", ")))
	}
	if slices.Contains(now.steps, facility.Name) {
		if err := now.signOff.InForce(now.at); err != nil {
			out = append(out, err.Error())
		}
	}
	out = append(out, differentHosts(then.hosts, now.hosts)...)
	out = append(out, tooOld(then.reached, now.at, l)...)
	if len(out) > 0 {
		return out
	}
	return then.cluster(ctx).differences(now.cluster(ctx))
}

// tooOld returns the verdicts that are too old or dated in the future.
func tooOld(reached map[string]time.Time, now time.Time, l limits) []string {
	var out []string
	for _, name := range slices.Sorted(maps.Keys(reached)) {
		at := reached[name]
		switch age := now.Sub(at).Round(time.Second); {
		case age < 0:
			out = append(out, fmt.Sprintf("%s is of %s, which is in the future", name, at.UTC().Format(time.RFC3339)))
		case age > l.maxAge():
			out = append(out, fmt.Sprintf("%s is of %s, %s ago: the limit is %s", name, at.UTC().Format(time.RFC3339), age, l.maxAge()))
		}
	}
	return out
}

func differentLeaves(then, now map[string]string) []string {
	all := maps.Clone(then)
	maps.Copy(all, now)
	var out []string
	for _, path := range slices.Sorted(maps.Keys(all)) {
		if before, after := orNothing(then, path), orNothing(now, path); before != after {
			out = append(out, fmt.Sprintf("%s: %s then, %s now", path, before, after))
		}
	}
	if n := len(out) - namedDifferences; n > 0 {
		out = append(out[:namedDifferences], fmt.Sprintf("and %d more", n))
	}
	return out
}

func orNothing(leaves map[string]string, path string) string {
	if v, ok := leaves[path]; ok {
		return v
	}
	return "nothing"
}

// documents are the files that a run is judged against.
type documents struct {
	site    *site.Site
	profile *profile.Profile
	recipe  []byte
	inputs  map[string][]byte
	// allowFailed is the most failed nodes that may be left out.
	allowFailed int
}

// leaves are the values of the documents by document and path. Secrets are redacted, as in
// the evidence.
func (d documents) leaves() (map[string]string, error) {
	into := map[string]string{}
	for name, v := range map[string]any{"site": d.site.Demand(), "profile": d.profile} {
		data, err := json.Marshal(v)
		if err != nil {
			return nil, fmt.Errorf("encode the %s to compare it: %w", name, err)
		}
		addLeaves(into, name, data)
	}
	into["accept --allow-failed"] = fmt.Sprint(d.allowFailed)
	if len(d.recipe) > 0 {
		addLeaves(into, "recipe", asStored(d.recipe))
	}
	for name, data := range d.inputs {
		into[name] = "a file"
		addLeaves(into, name, data)
	}
	return into, nil
}

// asStored is a site file or a recipe as a run has it (evidence.Create); a stored one is unchanged.
func asStored(data []byte) []byte {
	if out, err := redact.YAML(data); err == nil {
		return out
	}
	return redact.Bytes(data)
}

// addLeaves adds the values of a YAML or JSON document; another document is one value.
func addLeaves(into map[string]string, name string, data []byte) {
	data = redact.Bytes(data)
	var tree any
	if yamlstrict.Unique(data) != nil || yaml.Unmarshal(data, &tree) != nil {
		into[name] = string(data)
		return
	}
	flatten(into, name+" ", tree)
}

func flatten(into map[string]string, path string, v any) {
	switch v := v.(type) {
	case map[string]any:
		for key, child := range v {
			flatten(into, join(path, key), child)
		}
	case map[any]any:
		for key, child := range v {
			flatten(into, join(path, fmt.Sprint(key)), child)
		}
	case []any:
		for i, child := range v {
			flatten(into, fmt.Sprintf("%s[%d]", path, i), child)
		}
	case string:
		into[path] = fmt.Sprintf("%q", v)
	default:
		into[path] = fmt.Sprint(v)
	}
}

// join adds a key to a path; the path of a document alone ends in a space.
func join(path, key string) string {
	if strings.HasSuffix(path, " ") {
		return path + key
	}
	return path + "." + key
}

// demandOf is what the verdicts of a run's steps are valid for.
func demandOf(b *evidence.Bundle, steps []string) (demand, error) {
	s, p, err := Used(b)
	if err != nil {
		return demand{}, err
	}
	leaves, err := documents{site: s, profile: p, recipe: b.Recipe, inputs: b.Inputs, allowFailed: b.Header.AllowFailed}.leaves()
	if err != nil {
		return demand{}, err
	}
	d := demand{leaves: leaves, hosts: b.Header.Hosts, reached: map[string]time.Time{}, cluster: func(context.Context) identity {
		return identity{uid: b.Header.Cluster, simulated: b.Header.Simulated}
	}}
	for _, step := range b.Plan.Steps {
		if slices.Contains(steps, step.Name) {
			d.steps = append(d.steps, stepText(step.Name, step.NotApplicable))
		}
	}
	for _, r := range b.Results() {
		if slices.Contains(steps, r.Step) {
			d.reached[r.Step] = r.At
		}
	}
	if len(d.reached) == 0 {
		d.reached["run "+b.Header.Run] = b.Header.Created
	}
	return d, nil
}

// demandNow is what verdicts of these steps would be valid for now.
func (x *execution) demandNow(steps []string) (demand, error) {
	o := x.opts
	leaves, err := documents{site: o.Site, profile: o.Profile, recipe: o.RecipeFile, inputs: o.Inputs, allowFailed: o.AllowFailed}.leaves()
	return demand{leaves: leaves, steps: steps, hosts: o.Hosts, signOff: o.Site.Facility.SignOff, cluster: x.thisCluster, at: x.now()}, err
}

func stepText(name, notApplicable string) string {
	if notApplicable == "" {
		return name
	}
	return fmt.Sprintf("%s (not applicable: %s)", name, notApplicable)
}
