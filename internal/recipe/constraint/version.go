package constraint

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
)

// Version is a sequence of numbers. A suffix after - or + is ignored, except the build number
// of GKE.
type Version struct {
	Parts []uint64
	// Build is the N of -gke.N; 0 if absent.
	Build uint64
}

// maxVersion is longer than any version. A text that is longer is not one: an expression of many terms is compared with
// every measurement, so the work must not be the product of both lengths.
const maxVersion = 256

// ParseVersion parses 1, v1.32, 1.33.5-eks-3025e55, 6.8.0-1024-aws.
func ParseVersion(text string) (Version, bool) {
	if len(text) > maxVersion {
		return Version{}, false
	}
	text = strings.TrimPrefix(strings.TrimSpace(text), "v")
	main, extra := text, ""
	if i := strings.IndexAny(text, "-+"); i > 0 {
		main, extra = text[:i], text[i+1:]
	}
	var v Version
	for part := range strings.SplitSeq(main, ".") {
		n, err := strconv.ParseUint(part, 10, 64)
		if err != nil || part[0] == '+' {
			return Version{}, false
		}
		v.Parts = append(v.Parts, n)
	}
	if build, ok := strings.CutPrefix(extra, "gke."); ok {
		if n, err := strconv.ParseUint(build, 10, 64); err == nil {
			v.Build = n
		}
	}
	return v, true
}

// Compare compares as many numbers as both have: 1.32 and 1.32.4 are equal. GKE builds are
// compared if all numbers are equal; a version with a build is newer than one without.
func (v Version) Compare(o Version) int {
	n := min(len(v.Parts), len(o.Parts))
	for i := range n {
		if c := cmp.Compare(v.Parts[i], o.Parts[i]); c != 0 {
			return c
		}
	}
	if n < 3 {
		return 0
	}
	return cmp.Compare(v.Build, o.Build)
}

// coarser reports whether v is a prefix of o with fewer numbers.
func (v Version) coarser(o Version) bool {
	return len(v.Parts) < len(o.Parts) && slices.Equal(v.Parts, o.Parts[:len(v.Parts)])
}

// looksLikeVersion reports whether == and != compare the text as a version: a version with at
// least one dot.
func looksLikeVersion(text string) bool {
	if len(text) > maxVersion || !strings.Contains(text, ".") {
		return false
	}
	_, ok := ParseVersion(text)
	return ok
}
