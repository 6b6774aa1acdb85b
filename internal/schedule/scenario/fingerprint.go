package scenario

import (
	"encoding/json"
	"slices"

	"github.com/firstlight/firstlight/internal/recipe/digest"
)

// Fingerprint is the hexadecimal SHA-256 of everything that the scheduler reads of a
// scenario: recipes with equal fingerprints are scheduled equally.
func Fingerprint(c Scenario) string {
	canonical := Canonical(c)
	nodes := make([]seenNode, len(canonical.Nodes))
	for i, n := range canonical.Nodes {
		nodes[i] = seenNode{Node: n}
		for j := range canonical.Controls {
			if slices.Contains(canonical.Controls[j].Nodes, n.Name) {
				nodes[i].Held = append(nodes[i].Held, canonical.Controls[j].Name)
			}
		}
		nodes[i].Name = ""
	}
	for i := range canonical.Controls {
		canonical.Controls[i].Nodes = nil
	}
	canonical.Nodes = nil
	return digest.MustJSON(struct {
		Scenario
		Nodes []seenNode `json:"nodes"`
	}{canonical, sorted(nodes)})
}

// seenNode is a node without a name: the controls that are held to it know it by its place.
type seenNode struct {
	Node
	Held []string `json:"held,omitempty"`
}

// sorted is a sorted copy; nil where there is nothing.
func sorted[T any](list []T) []T {
	if len(list) == 0 {
		return nil
	}
	type pair struct {
		text string
		item T
	}
	pairs := make([]pair, len(list))
	for i, item := range list {
		pairs[i] = pair{string(encode(item)), item}
	}
	slices.SortStableFunc(pairs, func(a, b pair) int {
		switch {
		case a.text < b.text:
			return -1
		case a.text > b.text:
			return 1
		default:
			return 0
		}
	})
	out := make([]T, len(pairs))
	for i, p := range pairs {
		out[i] = p.item
	}
	return out
}

// set returns the list sorted and without duplicates.
func set[T any](list []T) []T {
	return slices.CompactFunc(sorted(list), func(a, b T) bool { return string(encode(a)) == string(encode(b)) })
}

// encode is canonical JSON: fields in the order of the type, keys of maps sorted.
func encode(v any) []byte {
	data, err := json.Marshal(v)
	if err != nil {
		panic("scenario: encode: " + err.Error()) // texts, numbers and lists of them can be encoded
	}
	return data
}
