package nodeprofile

import (
	"cmp"
	"path"
	"slices"

	"github.com/firstlight/firstlight/internal/recipe/criteria"
	"github.com/firstlight/firstlight/internal/recipe/resolve"
)

// Inputs are the files that determine a recipe's nodes. If no profile fits, they are all
// profiles of the provider, because a change of any of them can make one fit.
func (s *Set) Inputs(r *resolve.Result) []resolve.Input {
	var out []resolve.Input
	n, err := s.Select(r.Query)
	if err != nil {
		return s.candidates(r.Query)
	}
	for _, shape := range []*Node{n.System, n.Accelerated} {
		p := s.Profiles[slices.IndexFunc(s.Profiles, func(p *Profile) bool { return p.Node == shape })]
		out = append(out, resolve.Input{Path: p.Path, Digest: p.Digest, Why: "profile"})
	}
	out = append(out, resolve.Input{
		Path: AcceleratorsFile, Part: "accelerators/" + n.Accelerated.Accelerator, Digest: n.AcceleratorDigest, Why: "accelerator",
	})
	slices.SortFunc(out, func(a, b resolve.Input) int { return cmp.Compare(a.Path, b.Path) })
	return out
}

func (s *Set) candidates(c criteria.Criteria) []resolve.Input {
	c = c.Normal()
	dir := path.Join(Dir, cmp.Or(c.Service, criteria.SelfManaged))
	out := []resolve.Input{{Path: dir, Why: "profile"}} // missing, or none of its files fits
	for _, p := range s.Profiles {
		if p.Node.Provider == path.Base(dir) {
			out = append(out, resolve.Input{Path: p.Path, Digest: p.Digest, Why: "profile"})
		}
	}
	for _, a := range s.AcceleratorList {
		if a.Name == c.Accelerator {
			out = append(out, resolve.Input{Path: AcceleratorsFile, Part: "accelerators/" + a.Name, Digest: a.Digest, Why: "accelerator"})
		}
	}
	return out
}
