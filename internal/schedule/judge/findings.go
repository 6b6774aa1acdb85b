package judge

import (
	"fmt"
	"slices"

	"github.com/firstlight/firstlight/internal/check"
)

// findings are root causes and their consequences.
type findings struct {
	causes  []cause
	follows []follow
}

// follow is a consequence of the cause with this key.
type follow struct{ cause, suspect, message string }

// add adds a cause unless it is known.
func (f *findings) add(c cause) {
	if !slices.ContainsFunc(f.causes, func(o cause) bool { return o.key == c.key }) {
		f.causes = append(f.causes, c)
	}
}

// addFollowing adds a cause and its consequence for another suspect.
func (f *findings) addFollowing(c cause, suspect, format string, args ...any) {
	f.add(c)
	if suspect != c.suspect {
		f.follows = append(f.follows, follow{cause: c.key, suspect: suspect, message: fmt.Sprintf(format, args...)})
	}
}

// list returns causes first, those with most consequences before the others, then the
// consequences.
func (f *findings) list() []check.Finding {
	causes := slices.Clone(f.causes)
	explains := map[string][]string{}
	for _, o := range f.follows {
		if !slices.Contains(explains[o.cause], o.suspect) {
			explains[o.cause] = append(explains[o.cause], o.suspect)
		}
	}
	slices.SortStableFunc(causes, func(a, b cause) int { return len(explains[b.key]) - len(explains[a.key]) })
	var out []check.Finding
	for _, c := range causes {
		one := c.finding()
		if of := explains[c.key]; len(of) > 0 {
			one.Message += "; this explains " + firstFew(of)
		}
		out = append(out, one)
	}
	for _, c := range causes {
		for _, o := range f.follows {
			if o.cause == c.key {
				out = append(out, check.Finding{Suspect: o.suspect, Message: o.message + ": caused by " + c.suspect, Remedy: "correct " + c.suspect + " first"})
			}
		}
	}
	return out
}

func firstFew(names []string) string { return check.JoinNames(names, 4) }
