package infiniband

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/firstlight/firstlight/internal/probe/guard"
)

// SysfsRoot is where sysfs has the InfiniBand devices.
const SysfsRoot = "/sys/class/infiniband/"

// PKeyDir is the directory of the P_Key table of a device's port.
func PKeyDir(device string, port int) string {
	return fmt.Sprintf("%s%s/ports/%d/pkeys", SysfsRoot, device, port)
}

// PKeyTable is the P_Key table of one port.
type PKeyTable struct {
	Device string `json:"device"`
	Port   int    `json:"port"`
	// Keys are the keys that are set, "0xffff", each once and in order; the bit 0x8000
	// is full membership.
	Keys []string `json:"keys"`
}

var pkeyLine = regexp.MustCompile(`^/sys/class/infiniband/([^/:]+)/ports/(\d+)/pkeys/\d+:0x([0-9a-fA-F]{4})$`)

// ParsePKeys reads lines "FILE:KEY". Entries that are not set (0x0000) are left out; a table
// without any key that is set is in the output only where grep printed its entries.
func ParsePKeys(out []byte) ([]PKeyTable, error) {
	return guard.Parse("P_Key tables", func() ([]PKeyTable, error) { return parsePKeys(out) })
}

func parsePKeys(out []byte) ([]PKeyTable, error) {
	var tables []PKeyTable
	at := map[string]int{}
	n := 0
	for raw := range strings.SplitSeq(string(out), "\n") {
		n++
		text := strings.TrimRight(raw, " \r")
		if text == "" {
			continue
		}
		g := pkeyLine.FindStringSubmatch(text)
		if g == nil {
			return nil, fmt.Errorf("read P_Key tables: line %d: %.160q is no entry of a P_Key table", n, text)
		}
		port, err := strconv.Atoi(g[2])
		if err != nil {
			return nil, fmt.Errorf("read P_Key tables: line %d: port number: %w", n, err)
		}
		i, ok := at[g[1]+"/"+g[2]]
		if !ok {
			i = len(tables)
			at[g[1]+"/"+g[2]] = i
			tables = append(tables, PKeyTable{Device: g[1], Port: port})
		}
		if key := "0x" + strings.ToLower(g[3]); key != "0x0000" {
			tables[i].Keys = append(tables[i].Keys, key)
		}
	}
	if len(tables) == 0 {
		return nil, errors.New("read P_Key tables: no entry")
	}
	for i := range tables {
		slices.Sort(tables[i].Keys)
		tables[i].Keys = slices.Compact(tables[i].Keys)
	}
	return tables, nil
}
