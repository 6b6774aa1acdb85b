package constraint

import (
	"cmp"
	"errors"
	"fmt"
	"strings"

	"github.com/firstlight/firstlight/internal/recipe/model"
)

// JudgeLegacy judges as aicr does in the version criteria.LegacyVersion: one operator; == and
// != compare three numbers of a version, the others as many as both have; GKE builds are
// ignored.
func JudgeLegacy(c model.Constraint, s *Snapshot) Result {
	t := legacyTerm(c.Value)
	if t.value == "" {
		return judge(c, s, nil, errors.New("empty expression"))
	}
	return judge(c, s, t.holdsLegacy, nil)
}

func (t term) holdsLegacy(actual string) (bool, error) {
	actual = strings.TrimSpace(actual)
	want, wantErr := legacyVersion(t.value)
	have, haveErr := legacyVersion(actual)
	switch t.op {
	case "":
		return actual == t.value, nil
	case "==", "!=":
		equal := actual == t.value
		if strings.Contains(t.value, ".") && wantErr == nil && haveErr == nil {
			equal = have.padded() == want.padded()
		}
		return equal == (t.op == "=="), nil
	}
	if err := cmp.Or(wantErr, haveErr); err != nil {
		return false, err
	}
	n := min(len(have.Parts), len(want.Parts))
	have.Parts, want.Parts, have.Build, want.Build = have.Parts[:n], want.Parts[:n], 0, 0
	return t.compared(have.Compare(want)), nil
}

// legacyTerm uses all text after the operator as the operand.
func legacyTerm(expression string) term {
	expression = strings.TrimSpace(expression)
	for _, op := range operators {
		if value, ok := strings.CutPrefix(expression, op); ok {
			return term{op: op, value: strings.TrimSpace(value)}
		}
	}
	return term{value: expression}
}

func legacyVersion(text string) (Version, error) {
	v, ok := ParseVersion(text)
	if !ok || len(v.Parts) > 3 {
		return Version{}, fmt.Errorf("%q is not a version with at most three numbers", text)
	}
	return v, nil
}

// padded returns the numbers with missing ones as zero.
func (v Version) padded() [3]uint64 {
	var out [3]uint64
	copy(out[:], v.Parts)
	return out
}
