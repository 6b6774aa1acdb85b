package checktest

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/firstlight/firstlight/internal/check"
)

// Rule is one rule of a judge: the expected judgement of healthy observations with a few changed
// fields. When creates one.
type Rule struct {
	name          string
	changes       []Change
	verdict       check.Verdict
	suspect, says string
}

// When begins a rule: its name states it.
func When(name string, changes ...Change) Rule { return Rule{name: name, changes: changes} }

// Fails wants a failure with a finding of this suspect whose message has this text; either
// may be empty.
func (r Rule) Fails(suspect, says string) Rule {
	r.verdict, r.suspect, r.says = check.Failed, suspect, says
	return r
}

// Unobserved wants that verdict, and a finding as Fails does.
func (r Rule) Unobserved(suspect, says string) Rule {
	r.verdict, r.suspect, r.says = check.Unobserved, suspect, says
	return r
}

// Passes wants a pass.
func (r Rule) Passes() Rule {
	r.verdict = check.Passed
	return r
}

// Change puts a value in the place of a field. Set makes one.
type Change struct {
	of, path string
	to       any
}

// Set changes the observations of a kind, or of "kind@target". The path leads to the field:
// `.runs[0].rows[*].bytes`, `.nodes[last]`, `.resources["nvidia.com/gpu"]`. LeftOut takes the
// field away, and Twice doubles an item of a list.
func Set(of, path string, to any) Change { return Change{of: of, path: path, to: to} }

type special string

// Special values of Set.
const (
	LeftOut special = "left out"
	Twice   special = "twice"
)

// Rules tests a judge with rules.
func Rules(t *testing.T, judge func([]check.Observation) check.Judgement, healthy []check.Observation, rules []Rule) {
	t.Helper()
	for _, r := range rules {
		t.Run(r.name, func(t *testing.T) {
			t.Parallel()
			for _, c := range r.changes {
				if !c.known(t, judge, healthy) {
					t.Fatalf("unknown field %s of %s: the judge does not read it", c.path, c.of)
				}
			}
			j := judge(With(t, healthy, r.changes...))
			if j.Verdict != r.verdict {
				t.Fatalf("%s, want %s: %s: %+v", j.Verdict, r.verdict, j.Reason, j.Findings)
			}
			if r.suspect+r.says != "" && !slices.ContainsFunc(j.Findings, func(f check.Finding) bool {
				return (r.suspect == "" || f.Suspect == r.suspect) && strings.Contains(f.Message, r.says)
			}) {
				t.Errorf("no finding of %q says %q: %+v", r.suspect, r.says, j.Findings)
			}
		})
	}
}

// With is a copy of the observations with changed fields.
func With(t *testing.T, obs []check.Observation, changes ...Change) []check.Observation {
	t.Helper()
	obs = slices.Clone(obs)
	for _, c := range changes {
		c.apply(t, obs)
	}
	return obs
}

// known reports whether the judge reads the field. A key that the figures do not have may be one
// that was left out because it is empty, or a wrong one: only the former spoils the judgement
// where it gets a value of a type that no field has.
func (c Change) known(t *testing.T, judge func([]check.Observation) check.Judgement, healthy []check.Observation) bool {
	t.Helper()
	steps, err := parse(c.path)
	if err != nil {
		t.Fatal(err)
	}
	for _, o := range healthy {
		if c.matches(o) && has(decode(t, o.Figures), steps) {
			return true
		}
	}
	if c.to == LeftOut {
		return true // apply reports it
	}
	obs := slices.Clone(healthy)
	Change{c.of, c.path, [][][]int{{{}}}}.apply(t, obs)
	return judge(obs).Verdict != check.Passed
}

// has reports whether the field at the end of the steps exists in any item.
func has(v any, steps []any) bool {
	if len(steps) == 0 {
		return true
	}
	switch v := v.(type) {
	case map[string]any:
		key, _ := steps[0].(string)
		child, there := v[key]
		return there && has(child, steps[1:])
	case []any:
		return slices.ContainsFunc(v, func(item any) bool { return has(item, steps[1:]) })
	}
	return false
}

func (c Change) matches(o check.Observation) bool {
	return o.Kind == c.of || o.Kind+"@"+o.Target == c.of
}

func (c Change) apply(t *testing.T, obs []check.Observation) {
	t.Helper()
	found := false
	for i, o := range obs {
		if !c.matches(o) {
			continue
		}
		found = true
		steps, err := parse(c.path)
		if err != nil {
			t.Fatal(err)
		}
		tree, err := put(decode(t, o.Figures), steps, c.to)
		if err != nil {
			t.Fatalf("%s of %s: %v", c.path, c.of, err)
		}
		if o.Figures, err = json.Marshal(tree); err != nil {
			t.Fatal(err)
		}
		obs[i] = o
	}
	if !found {
		t.Fatalf("no observation %s", c.of)
	}
}

// parse splits a path into keys and indices; "*" and "last" are indices, too.
func parse(path string) ([]any, error) {
	var steps []any
	for path != "" {
		switch {
		case strings.HasPrefix(path, `["`):
			end := strings.Index(path, `"]`)
			if end < 0 {
				return nil, fmt.Errorf("invalid path %q", path)
			}
			steps, path = append(steps, path[2:end]), path[end+2:]
		case path[0] == '[':
			text, rest, ok := strings.Cut(path[1:], "]")
			if !ok {
				return nil, fmt.Errorf("invalid path %q", path)
			}
			path = rest
			if text == "last" || text == "*" {
				steps = append(steps, special(text))
				continue
			}
			n, err := strconv.Atoi(text)
			if err != nil {
				return nil, fmt.Errorf("invalid path: %w", err)
			}
			steps = append(steps, n)
		default:
			path = strings.TrimPrefix(path, ".")
			end := strings.IndexAny(path, ".[")
			if end < 0 {
				end = len(path)
			}
			if end == 0 {
				return nil, errors.New("invalid path: an empty key")
			}
			steps, path = append(steps, path[:end]), path[end:]
		}
	}
	return steps, nil
}

// put returns v with the value at the end of the steps.
func put(v any, steps []any, to any) (any, error) {
	if len(steps) == 0 {
		return to, nil
	}
	switch step := steps[0].(type) {
	case string:
		m, ok := v.(map[string]any)
		if !ok {
			return nil, fmt.Errorf("%q: not an object", step)
		}
		if _, there := m[step]; !there && (len(steps) > 1 || to == LeftOut) {
			return nil, fmt.Errorf("key %q not found", step)
		}
		if len(steps) == 1 && to == LeftOut {
			delete(m, step)
			return m, nil
		}
		child, err := put(m[step], steps[1:], to)
		m[step] = child
		return m, err
	default:
		list, ok := v.([]any)
		if !ok || len(list) == 0 {
			return nil, fmt.Errorf("[%v]: not a list with items", step)
		}
		return putItems(list, step, steps[1:], to)
	}
}

func putItems(list []any, step any, rest []any, to any) (any, error) {
	which := []int{0}
	switch step := step.(type) {
	case int:
		which[0] = step
	case special:
		which[0] = len(list) - 1
		if step == "*" {
			which = nil
			for i := range list {
				which = append(which, i)
			}
		}
	}
	for _, i := range slices.Backward(which) {
		if i >= len(list) {
			return nil, fmt.Errorf("[%d]: the list has %d items", i, len(list))
		}
		switch {
		case len(rest) == 0 && to == LeftOut:
			list = slices.Delete(list, i, i+1)
		case len(rest) == 0 && to == Twice:
			list = slices.Insert(list, i, list[i])
		default:
			child, err := put(list[i], rest, to)
			if err != nil {
				return nil, err
			}
			list[i] = child
		}
	}
	return list, nil
}
