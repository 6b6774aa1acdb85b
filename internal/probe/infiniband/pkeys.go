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

// SysfsRoot is the directory of the InfiniBand devices in sysfs.
const SysfsRoot = "/sys/class/infiniband/"

// PKeyDir is the directory of the P_Key table of a device's port.
func PKeyDir(device string, port int) string {
	return fmt.Sprintf("%s%s/ports/%d/pkeys", SysfsRoot, device, port)
}

// PKeyTable is the P_Key table of one port.
type PKeyTable struct {
	Device string `json:"device"`
	Port   int    `json:"port"`
	// Keys are the set keys ("0xffff"), sorted, without duplicates. Bit 0x8000 is full
	// membership.
	Keys []string `json:"keys"`
}

var pkeyLine = regexp.MustCompile(`^/sys/class/infiniband/([^/:]+)/ports/(\d+)/pkeys/\d+:0x([0-9a-fA-F]{4})$`)

// ParsePKeys parses lines "FILE:KEY", as grep prints the sysfs files. Unset entries (0x0000)
// are omitted; a table with unset entries only has no keys.
func ParsePKeys(out []byte) ([]PKeyTable, error) {
	return guard.Parse("P_Key tables", func() ([]PKeyTable, error) { return parsePKeys(out) })
}

func parsePKeys(out []byte) ([]PKeyTable, error) {
	var tables []PKeyTable
	index := map[string]int{}
	err := eachLine("P_Key tables", out, func(line string) error {
		g := pkeyLine.FindStringSubmatch(line)
		if g == nil {
			return fmt.Errorf("%.160q is not an entry of a P_Key table", line)
		}
		port, err := strconv.Atoi(g[2])
		if err != nil {
			return fmt.Errorf("invalid port number: %w", err)
		}
		i, ok := index[g[1]+"/"+g[2]]
		if !ok {
			i = len(tables)
			index[g[1]+"/"+g[2]] = i
			tables = append(tables, PKeyTable{Device: g[1], Port: port})
		}
		if key := "0x" + strings.ToLower(g[3]); key != "0x0000" {
			tables[i].Keys = append(tables[i].Keys, key)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	if len(tables) == 0 {
		return nil, errors.New("read P_Key tables: no entry in the output")
	}
	for i := range tables {
		slices.Sort(tables[i].Keys)
		tables[i].Keys = slices.Compact(tables[i].Keys)
	}
	return tables, nil
}
