package fabric

import (
	"regexp"
	"strconv"
	"strings"
)

// described is a node as iblinkinfo lists it.
type described struct{ guid, description string }

// lastCableQuantum is the number of cables' ports of a Quantum-2 switch; port 65 is its aggregation node.
const lastCableQuantum = 64

// managed is the description of a switch with MLNX-OS: "MF0;leaf-1:MQM9700/U1".
var managed = regexp.MustCompile(`^MF0;([^:]+):[^/]+(/.+)$`)

// addPath keeps a node by the name that ibdiagnet gives it, and by its host: "gpu-02/mlx5_1" for the
// description "gpu-02 mlx5_1", "leaf-1/U1" for "MF0;leaf-1:MQM9700/U1".
func (n names) addPath(guidText, description string, port int) {
	if id, ok := guid(guidText); ok {
		n.ports[id] = max(n.ports[id], port)
	}
	name, node := pathOf(description), described{guidText, description}
	n.paths[name] = append(n.paths[name], node)
	if host, _, ok := strings.Cut(description, " "); ok {
		n.hosts[short(host)] = append(n.hosts[short(host)], node)
	}
}

func pathOf(description string) string {
	if g := managed.FindStringSubmatch(description); g != nil {
		return g[1] + g[2]
	}
	return strings.Replace(description, " ", "/", 1)
}

// node is a node of the subnet by its description; of no name if several nodes have it.
func (n names) node(description string) endpoint {
	if all := n.paths[pathOf(description)]; len(all) > 0 {
		end, _ := n.same(all, 0, "")
		return end
	}
	return n.end("", description, 0)
}

// unit is the name of a host's adapter in older versions, which does not tell which one it is: "gpu-02/U1".
var unit = regexp.MustCompile(`^([^/]+)/(U\d+)$`)

// named names a port by ibdiagnet's name of its node; false: the name is unknown, or of several nodes.
func (n names) named(node string, number int, label string) (endpoint, bool) {
	if all := n.paths[node]; len(all) > 0 {
		return n.same(all, number, label)
	}
	if n.allows(strings.Replace(node, "/", " ", 1), 0) { // it left the subnet before iblinkinfo
		return endpoint{name: node, adapter: true, other: true}, true
	}
	host, device, ok := strings.Cut(node, "/")
	known, ours := n.nodes[short(host)]
	if g := unit.FindStringSubmatch(node); g != nil {
		if all := n.hosts[short(host)]; len(all) > 0 && n.allOthers(all) {
			return endpoint{name: node, adapter: true, other: true}, true
		}
	}
	return endpoint{name: known + "/" + device, adapter: true, expected: true}, ok && ours
}

// same is the port that all these nodes have: an adapter with two ports has two GUIDs.
func (n names) same(all []described, number int, label string) (endpoint, bool) {
	var first endpoint
	for i, node := range all {
		id, _ := guid(node.guid)
		end := n.end(node.guid, node.description, n.number(id, number, label))
		known := end.other || end.expected || n.declared[node.description]
		if !known || i > 0 && end != first {
			return endpoint{}, false
		}
		first = end
	}
	return first, true
}

func (n names) allOthers(all []described) bool {
	for _, node := range all {
		if id, _ := guid(node.guid); !n.allows(node.description, id) {
			return false
		}
	}
	return true
}

// cage is the label of a port of a Quantum-2 switch: "P1/27/2" is the second port of cage 27.
var cage = regexp.MustCompile(`^P1/(\d+)/([12])$`)

// number is a port's number, also where ibdiagnet prints its label; 0 if it is unknown. Ports of other switches, and of
// those whose cages are split, have other numbers.
func (n names) number(id uint64, number int, label string) int {
	g := cage.FindStringSubmatch(label)
	if number > 0 || g == nil || n.ports[id] == 0 || n.ports[id] > lastCableQuantum+1 {
		return number
	}
	at, err := strconv.Atoi(g[1])
	if err != nil || at < 1 || at > lastCableQuantum/2 {
		return 0
	}
	lane, _ := strconv.Atoi(g[2]) // 1 or 2
	return 2*(at-1) + lane
}
