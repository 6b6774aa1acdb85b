package site

import (
	"errors"
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/firstlight/firstlight/internal/profile"
)

// mostHCA is the highest number that * stands for in the name of an HCA.
const mostHCA = 255

// hcas replaces the patterns of fabric.hcas by names. Entries are as in NCCL_IB_HCA, but match whole names:
//
//	mlx5_0      a name; =mlx5_0 and mlx5_0:1 are the same
//	mlx5_[0-7]  one character of a set
//	mlx5_*      numbers from 0, as many as the profile has HCAs a node
//	^mlx5_4     leaves out a name or pattern
func (v *validator) hcas(f *Fabric, p *profile.Profile) {
	var names, left, open []string
	for i, entry := range f.HCAs {
		at := fmt.Sprintf("fabric.hcas.%d", i)
		pattern, out := strings.CutPrefix(entry, "^")
		pattern = strings.TrimPrefix(pattern, "=")
		pattern, port, _ := strings.Cut(pattern, ":")
		if port != "" && port != "1" {
			v.add(at, "invalid port %q: gate fabric judges port 1 of an HCA", port)
		}
		if _, err := path.Match(pattern, ""); err != nil || pattern == "" || strings.Count(pattern, "*") > 1 {
			v.add(at, "invalid HCA %q: must be a name such as mlx5_0, or a pattern such as mlx5_[0-7], mlx5_* or ^mlx5_4", entry)
			continue
		}
		switch {
		case out:
			left = append(left, pattern)
		case strings.Contains(pattern, "*"):
			open = append(open, pattern)
		default:
			each, err := inSets(pattern)
			if err != nil {
				v.add(at, "invalid HCA %q: %v", entry, err)
			}
			names = append(names, each...)
		}
	}
	kept := func(name string) bool {
		return !slices.ContainsFunc(left, func(pattern string) bool {
			hit, err := path.Match(pattern, name)
			return hit && err == nil
		})
	}
	names = slices.DeleteFunc(names, func(name string) bool { return !kept(name) })
	for _, pattern := range open {
		for n := 0; n <= mostHCA && p != nil && len(names) < int(p.Node.HCAs.Value); n++ {
			each, err := inSets(strings.Replace(pattern, "*", strconv.Itoa(n), 1))
			if err != nil {
				break // path.Match has accepted it
			}
			for _, name := range each {
				if kept(name) && !slices.Contains(names, name) {
					names = append(names, name)
				}
			}
		}
	}
	f.HCAs = names
}

// inSets are the names of a pattern with sets of characters: mlx5_[0-3].
func inSets(pattern string) ([]string, error) {
	before, rest, found := strings.Cut(pattern, "[")
	if !found {
		if strings.ContainsAny(pattern, "?]\\") {
			return nil, errors.New("? and \\ are not supported: name the characters, such as [0-7]")
		}
		return []string{pattern}, nil
	}
	set, after, _ := strings.Cut(rest, "]")
	if set == "" || strings.ContainsAny(set, "^!\\") {
		return nil, errors.New("a set must name its characters, such as [0-7]")
	}
	tails, err := inSets(after)
	if err != nil {
		return nil, err
	}
	var out []string
	for i := 0; i < len(set); i++ {
		first, last := set[i], set[i]
		if i+2 < len(set) && set[i+1] == '-' {
			last = set[i+2]
			i += 2
		}
		for c := int(first); c <= int(last); c++ {
			for _, tail := range tails {
				out = append(out, before+string(rune(c))+tail)
			}
		}
	}
	return out, nil
}
