package impact

import (
	"cmp"
	"slices"

	"github.com/firstlight/firstlight/internal/impact/git"
	"github.com/firstlight/firstlight/internal/recipe/resolve"
)

// Reason is one reason to test a recipe.
type Reason struct {
	// Via is a constant below, or the reason why the recipe has the changed input
	// (root, criteria, values, manifest, patch, mixin, registry, check, footprint, render,
	// profile, accelerator).
	Via string `json:"via"`
	// Path and Part locate the changed input, Change is the kind of change.
	Path   string   `json:"path,omitempty"`
	Part   string   `json:"part,omitempty"`
	Change git.Kind `json:"change,omitempty"`
	// Text explains a reason that is not a changed file.
	Text string `json:"text,omitempty"`
}

// Values of Via for reasons that are not changed inputs.
const (
	ViaBase         = "base chain"    // an overlay in its base chain changed
	ViaItself       = "itself"        // its own overlay changed
	ViaGeneric      = "generic"       // tier 1
	ViaNew          = "new"           // it did not exist before
	ViaBroken       = "broken"        // it cannot be resolved
	ViaBrokenBefore = "broken before" // it could not be resolved before
	ViaHarness      = "harness"       // the code that runs the test changed
	ViaEverything   = "everything"    // the effect of the change is unknown
	ViaEvent        = "event"         // the event tests all recipes
	ViaNamed        = "named"         // selected by name
)

func (r Reason) String() string {
	text := r.Via
	if r.Path != "" {
		text += ": " + r.Path
	}
	if r.Part != "" {
		text += " " + r.Part
	}
	if r.Change != "" {
		text += " " + string(r.Change)
	}
	if r.Text != "" {
		text += ": " + r.Text
	}
	return text
}

// different returns the inputs that differ, sorted by path. own is the file of the recipe's
// overlay.
func different(own string, before, after []resolve.Input) []Reason {
	type key struct{ path, part string }
	was, is := map[key]resolve.Input{}, map[key]resolve.Input{}
	for _, in := range before {
		was[key{in.Path, in.Part}] = in
	}
	for _, in := range after {
		is[key{in.Path, in.Part}] = in
	}
	var out []Reason
	add := func(k key, via string, change git.Kind) {
		switch {
		case k.path == own:
			via = ViaItself
		case via == "base":
			via = ViaBase
		}
		out = append(out, Reason{Via: via, Path: k.path, Part: k.part, Change: change})
	}
	for k, now := range is {
		then, had := was[k]
		switch {
		case !had:
			add(k, now.Why, git.Added)
		case then.Digest != now.Digest:
			add(k, now.Why, changeOf(then.Digest, now.Digest))
		}
	}
	for k, then := range was {
		if _, has := is[k]; !has {
			add(k, then.Why, git.Removed)
		}
	}
	slices.SortFunc(out, func(a, b Reason) int { return cmp.Or(cmp.Compare(a.Path, b.Path), cmp.Compare(a.Part, b.Part)) })
	return out
}

// changeOf returns the kind of change; an empty digest means that the file does not exist.
func changeOf(before, after string) git.Kind {
	switch {
	case before == "":
		return git.Added
	case after == "":
		return git.Removed
	default:
		return git.Changed
	}
}
