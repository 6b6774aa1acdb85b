package ray

import (
	"errors"
	"fmt"
	"net/url"
	"strconv"
	"strings"

	"github.com/firstlight/firstlight/internal/probe/guard"
)

// NodesPath lists the nodes.
var NodesPath = fmt.Sprintf("/api/v0/nodes?limit=%d", maxRows)

// Columns of placement groups that filter them.
const (
	byName  = "name"
	byState = "state"
)

// GroupsPath lists placement groups.
const GroupsPath = "/api/v0/placement_groups"

// GroupPath lists the placement groups of a name, with details. Those that were removed remain in the list.
func GroupPath(name string) string { return groupsWith(byName, name) }

// CreatedPath lists the placement groups that are placed, with details.
func CreatedPath() string { return groupsWith(byState, Created) }

func groupsWith(column, value string) string {
	return GroupsPath + "?" + url.Values{
		"limit": {strconv.Itoa(maxRows)}, "detail": {"True"}, "filter_keys": {column}, "filter_predicates": {"="}, "filter_values": {value},
	}.Encode()
}

// Alive is the state of a node whose raylet runs.
const Alive = "ALIVE"

// Node is a raylet that has registered with the head; a dead one remains in the list.
type Node struct {
	ID string `json:"id"`
	// Address is that of its pod.
	Address string `json:"address"`
	Head    bool   `json:"head"`
	// State is ALIVE or DEAD.
	State string `json:"state"`
	// Message is why it is dead.
	Message string `json:"message,omitempty"`
	// GPUs that it offers.
	GPUs float64 `json:"gpus"`
}

// ParseNodes reads the reply of NodesPath.
func ParseNodes(raw []byte) ([]Node, error) {
	return guard.Parse("nodes of Ray", func() ([]Node, error) {
		list, err := rows("nodes", raw)
		if err != nil {
			return nil, err
		}
		out := []Node{}
		for _, text := range list {
			var row struct {
				ID        string             `json:"node_id"`
				Address   string             `json:"node_ip"`
				Head      bool               `json:"is_head_node"`
				State     string             `json:"state"`
				Message   *string            `json:"state_message"`
				Resources map[string]float64 `json:"resources_total"`
			}
			if err := guard.JSON(text, &row); err != nil {
				return nil, fmt.Errorf("unexpected node %.120q: %w", text, err)
			}
			if row.ID == "" || row.Address == "" || row.State == "" {
				return nil, fmt.Errorf("unexpected node %.120q: node_id, node_ip or state not found", text)
			}
			n := Node{ID: row.ID, Address: row.Address, Head: row.Head, State: row.State, GPUs: row.Resources["GPU"]}
			if row.Message != nil {
				n.Message = *row.Message
			}
			if n.GPUs < 0 {
				return nil, fmt.Errorf("node %s has %g GPUs", n.ID, n.GPUs)
			}
			out = append(out, n)
		}
		return out, nil
	})
}

// States of a placement group.
const (
	Pending      = "PENDING"
	Prepared     = "PREPARED"
	Created      = "CREATED"
	Removed      = "REMOVED"
	Rescheduling = "RESCHEDULING"
)

// Results of the scheduler for a group that it did not place (PlacementGroupStats.SchedulingState of gcs.proto).
const (
	NoResources = "NO_RESOURCES"
	Infeasible  = "INFEASIBLE"
)

// Groups are placement groups of a reply.
type Groups struct {
	List []Group
	// Missing: others may exist, and why; empty: the list is complete.
	Missing string
}

// Group is a placement group.
type Group struct {
	ID    string `json:"id"`
	Name  string `json:"name"`
	State string `json:"state"`
	// Scheduling is the scheduler's last result: FINISHED, NoResources, Infeasible and others.
	Scheduling string   `json:"scheduling,omitempty"`
	Bundles    []Bundle `json:"bundles"`
}

// Bundle is a part of a placement group, on one node.
type Bundle struct {
	// Node is the ID of the node that it is placed on; empty: it is not placed.
	Node string  `json:"node,omitempty"`
	GPUs float64 `json:"gpus"`
}

// Placed is the number of bundles that have a node.
func (g Group) Placed() int {
	n := 0
	for _, b := range g.Bundles {
		if b.Node != "" {
			n++
		}
	}
	return n
}

var errNoBundles = errors.New("its bundles are not in the reply")

// ParseGroups reads a list of placement groups with details.
func ParseGroups(raw []byte) (Groups, error) {
	return guard.Parse("placement groups of Ray", func() (Groups, error) {
		list, missing, err := partial("placement groups", raw)
		if err != nil {
			return Groups{}, err
		}
		out := Groups{List: []Group{}, Missing: missing}
		for _, text := range list {
			var row struct {
				ID      string `json:"placement_group_id"`
				Name    string `json:"name"`
				State   string `json:"state"`
				Bundles []struct {
					Node      *string            `json:"node_id"`
					Resources map[string]float64 `json:"unit_resources"`
				} `json:"bundles"`
				Stats struct {
					Scheduling string `json:"scheduling_state"`
				} `json:"stats"`
			}
			if err := guard.JSON(text, &row); err != nil {
				return Groups{}, fmt.Errorf("unexpected placement group %.120q: %w", text, err)
			}
			if row.ID == "" || row.State == "" {
				return Groups{}, fmt.Errorf("unexpected placement group %.120q: placement_group_id or state not found", text)
			}
			if row.Bundles == nil {
				return Groups{}, fmt.Errorf("placement group %s: %w", row.ID, errNoBundles)
			}
			g := Group{ID: row.ID, Name: row.Name, State: row.State, Scheduling: row.Stats.Scheduling, Bundles: []Bundle{}}
			for _, b := range row.Bundles {
				bundle := Bundle{GPUs: b.Resources["GPU"]}
				if b.Node != nil && !isNil(*b.Node) {
					bundle.Node = *b.Node
				}
				g.Bundles = append(g.Bundles, bundle)
			}
			out.List = append(out.List, g)
		}
		return out, nil
	})
}

// isNil reports whether an ID is that of nothing: empty, or every bit set (NodeID.nil()).
func isNil(id string) bool { return strings.Trim(id, "f") == "" }
