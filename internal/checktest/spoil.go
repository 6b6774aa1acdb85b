package checktest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/firstlight/firstlight/internal/check"
)

// spoilt are observations with one change.
type spoilt struct {
	// where is the observation and the field, change the kind of change.
	where, change string
	obs           []check.Observation
}

// large is the size of figures, in bytes, from which one of a kind is enough.
const large = 8 << 10

// spoil makes every change to the first and the last observation of each kind; to the fields
// of the first alone where figures are large. Fields that are not wanted are left as they are.
func spoil(t *testing.T, healthy []check.Observation, wanted func(where string) bool) []spoilt {
	t.Helper()
	var out []spoilt
	for i, o := range healthy {
		if !firstOrLast(healthy, i) {
			continue
		}
		where := o.Kind + "@" + o.Target
		failed := o
		failed.Err, failed.Figures = "could not be observed", nil
		if wanted(where) {
			out = append(out,
				spoilt{where, "gone", slices.Delete(slices.Clone(healthy), i, i+1)},
				spoilt{where, "in error", replace(healthy, i, failed)},
				spoilt{where, "twice", slices.Insert(slices.Clone(healthy), i, o)})
		}
		first := !slices.ContainsFunc(healthy[:i], func(other check.Observation) bool { return other.Kind == o.Kind })
		if len(o.Figures) == 0 || len(o.Figures) > large && !first {
			continue
		}
		tree := decode(t, o.Figures)
		visit(tree, "", func(v any) { tree = v }, func(path, change string) {
			if !wanted(where + " " + path) {
				return
			}
			data, err := json.Marshal(tree)
			if err != nil {
				t.Fatal(err)
			}
			changed := o
			changed.Figures = data
			out = append(out, spoilt{where + " " + path, change, replace(healthy, i, changed)})
		})
	}
	return out
}

// firstOrLast of its kind and target.
func firstOrLast(obs []check.Observation, i int) bool {
	same := func(o check.Observation) bool { return o.Kind == obs[i].Kind }
	return !slices.ContainsFunc(obs[:i], same) || !slices.ContainsFunc(obs[i+1:], same)
}

func replace(obs []check.Observation, i int, o check.Observation) []check.Observation {
	out := slices.Clone(obs)
	out[i] = o
	return out
}

func decode(t *testing.T, data []byte) any {
	t.Helper()
	var v any
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.UseNumber()
	if err := dec.Decode(&v); err != nil {
		t.Fatal(err)
	}
	return v
}

// visit makes each change to a value and to what it holds: set puts a value in its place,
// changed is called while the value is set.
func visit(v any, path string, set func(any), changed func(path, change string)) {
	try := func(change string, to any) {
		set(to)
		changed(path, change)
		set(v)
	}
	switch v := v.(type) {
	case map[string]any:
		for _, key := range slices.Sorted(maps.Keys(v)) {
			child := v[key]
			delete(v, key)
			changed(path+"."+key, "left out")
			v[key] = child
			visit(child, path+"."+key, func(to any) { v[key] = to }, changed)
		}
	case []any:
		visitItems(v, path, try, changed)
	case json.Number:
		for _, n := range numbers(v) {
			try(n.name, n.to)
		}
	case bool:
		try("flipped", !v)
	case string:
		visitText(v, try)
	}
}

func visitItems(v []any, path string, try func(string, any), changed func(path, change string)) {
	if len(v) == 0 {
		return
	}
	try("emptied", []any{})
	try("the first twice", append([]any{v[0]}, v...))
	if len(v) > 1 {
		try("without the last", v[:len(v)-1])
	}
	for _, i := range slices.Compact([]int{0, len(v) - 1}) {
		name := "[0]"
		if i > 0 {
			name = "[last]"
		}
		visit(v[i], path+name, func(to any) { v[i] = to }, changed)
	}
}

type number struct {
	name string
	to   any
}

// numbers are what may stand in place of a number.
func numbers(n json.Number) []number {
	f, err := n.Float64()
	if err != nil {
		return nil
	}
	if f == 0 {
		return []number{{"1", 1}, {"-1", -1}}
	}
	all := []number{{"0", 0}, {"-1", -1}, {"1", 1}, {"1 less", f - 1}, {"1 more", f + 1}, {"x1000", f * 1000}, {"x0.5", half(n, f)}}
	if f == 1 {
		all = slices.Delete(all, 2, 4) // it is 1, and 1 less is 0
	}
	return all
}

// half of a whole number is whole.
func half(n json.Number, f float64) any {
	if i, err := n.Int64(); err == nil {
		return i / 2
	}
	return f / 2
}

func visitText(v string, try func(string, any)) {
	if v != "" {
		try(`""`, "")
	}
	if at, err := time.Parse(time.RFC3339Nano, v); err == nil {
		try("10 h later", at.Add(10*time.Hour))
		try("10 h earlier", at.Add(-10*time.Hour))
		return
	}
	try("another text", fmt.Sprintf("%szz", v))
}
