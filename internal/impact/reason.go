package impact

import (
	"cmp"
	"slices"

	"github.com/firstlight/firstlight/internal/impact/git"
	"github.com/firstlight/firstlight/internal/recipe/resolve"
)

// Reason is one reason to test a recipe.
type Reason struct {
	// Via is in which way it concerns the recipe: one of those below, or why the
	// recipe has the input that changed (root, criteria, values, manifest, patch,
	// mixin, registry, check, footprint, render, profile, accelerator).
	Via string `json:"via"`
	// Path and Part say what changed, and Change how.
	Path   string   `json:"path,omitempty"`
	Part   string   `json:"part,omitempty"`
	Change git.Kind `json:"change,omitempty"`
	// Text says it in words where it is no file.
	Text string `json:"text,omitempty"`
}

// Ways in which something concerns a recipe that are not those of inputs.
const (
	ViaBase         = "base chain"    // an overlay that it is based on changed
	ViaItself       = "itself"        // its own overlay changed
	ViaGeneric      = "generic"       // tier 1
	ViaNew          = "new"           // it was not there before
	ViaBroken       = "broken"        // it can't be resolved
	ViaBrokenBefore = "broken before" // it could not be resolved before
	ViaHarness      = "harness"       // what runs the test changed
	ViaEverything   = "everything"    // the change can't be judged
	ViaEvent        = "event"         // the event tests all
	ViaNamed        = "named"         // somebody asked for it
)

// String is the reason as a line.
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

// different are the inputs in which a recipe differs, in order. own is the file of
// its overlay.
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

// changeOf says what became of an input that was named before and after; an empty
// digest is that of what is not there.
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
