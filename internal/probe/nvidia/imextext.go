package nvidia

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// The lines of nvidia-imex-ctl -N. The node that prints has its address between asterisks from 580 on;
// the version is missing before 570.86, the host name without -H.
var (
	imexLegend = regexp.MustCompile(`^(!?[A-Z]!?) - ([A-Za-z ]+?)(?: - .*|, .*)?$`)
	imexEntry  = regexp.MustCompile(`^Node #(\d+)\s+[-*]\s+(\S+?)(?:\s+\*)?\s+-\s+([A-Z_]+)(?:\s+-\s+Version:[ \t]*(\S*))?(?:\s+-\s+Hostname:[ \t]*(\S*))?$`)
	imexHeader = regexp.MustCompile(`^Nodes From\\To((?:\s+\d+)+)$`)
	imexDomain = regexp.MustCompile(`^Domain State: ([A-Z_]+)$`)
	imexDaemon = regexp.MustCompile(`^[A-Z_]+$`)
)

// parseIMEXText parses the output of nvidia-imex-ctl -N; nil if it prints no domain.
func parseIMEXText(text string) (*IMEXDomain, error) {
	d, legend, columns := &IMEXDomain{}, map[string]string{}, []int(nil)
	at := map[int]int{} // index of the first node of a number
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if m := imexDomain.FindStringSubmatch(line); m != nil {
			if d.State != "" {
				return nil, errors.New("read nvidia-imex-ctl -N: two states of the domain")
			}
			d.State = m[1]
			continue
		}
		switch fields := strings.Fields(line); {
		case d.State != "": // later lines are not of the domain
		case imexLegend.MatchString(line):
			m := imexLegend.FindStringSubmatch(line)
			legend[m[1]] = strings.ToUpper(strings.ReplaceAll(m[2], " ", "_"))
		case strings.HasPrefix(line, "Node #"):
			m := imexEntry.FindStringSubmatch(line)
			if m == nil {
				return nil, fmt.Errorf("read nvidia-imex-ctl -N: %.80q: want number, address and state of a node", line)
			}
			number, err := strconv.Atoi(m[1])
			if err != nil {
				return nil, fmt.Errorf("read nvidia-imex-ctl -N: %.80q: %w", line, err)
			}
			if _, known := at[number]; !known {
				at[number] = len(d.Nodes)
			}
			d.Nodes = append(d.Nodes, IMEXNode{Number: number, Host: m[2], State: m[3], Version: m[4]})
		case strings.HasPrefix(line, "Nodes From"):
			m := imexHeader.FindStringSubmatch(line)
			if m == nil {
				return nil, fmt.Errorf("read nvidia-imex-ctl -N: %.80q: want the numbers of nodes", line)
			}
			columns = nil
			for field := range strings.FieldsSeq(m[1]) {
				to, err := strconv.Atoi(field)
				if err != nil {
					return nil, fmt.Errorf("read nvidia-imex-ctl -N: %.80q: %w", line, err)
				}
				columns = append(columns, to)
			}
		case len(columns) > 0 && len(fields) > 0:
			if err := d.addRow(fields, columns, legend, at); err != nil {
				return nil, err
			}
		}
	}
	return d.checked(columns)
}

// addRow adds the connections from one node: its number, and the code of each connection.
func (d *IMEXDomain) addRow(fields []string, columns []int, legend map[string]string, at map[int]int) error {
	from, err := strconv.Atoi(fields[0])
	i, known := at[from]
	if err != nil || !known || len(fields) != len(columns)+1 {
		return fmt.Errorf("read nvidia-imex-ctl -N: connections %.80q: want a node and %d states", strings.Join(fields, " "), len(columns))
	}
	if d.Nodes[i].Connections == nil {
		d.Nodes[i].Connections = map[int]string{}
	}
	for k, code := range fields[1:] {
		state, ok := legend[code]
		if !ok {
			return fmt.Errorf("read nvidia-imex-ctl -N: connection %q of node %d: not in the legend", code, from)
		}
		if _, twice := d.Nodes[i].Connections[columns[k]]; twice {
			return fmt.Errorf("read nvidia-imex-ctl -N: two connections of node %d to node %d", from, columns[k])
		}
		d.Nodes[i].Connections[columns[k]] = state
	}
	return nil
}

// checked returns the domain, nil for an output without one, or an error for half an output.
func (d *IMEXDomain) checked(columns []int) (*IMEXDomain, error) {
	switch {
	case d.State == "" && len(d.Nodes) == 0:
		return nil, nil // no domain is a state, not an error
	case d.State == "":
		return nil, errors.New("read nvidia-imex-ctl -N: the state of the domain is missing")
	case len(d.Nodes) > 0 && len(columns) == 0:
		return nil, errors.New("read nvidia-imex-ctl -N: the table of connections is missing")
	}
	slices.SortFunc(d.Nodes, func(a, b IMEXNode) int { return a.Number - b.Number })
	return d, nil
}

// parseIMEXDaemon parses nvidia-imex-ctl -q: one word; empty for anything else.
func parseIMEXDaemon(text string) string {
	if word := strings.TrimSpace(text); imexDaemon.MatchString(word) {
		return word
	}
	return ""
}
