package host

import (
	"fmt"
	"net/netip"
	"strconv"
	"strings"

	"github.com/firstlight/firstlight/internal/world"
	"github.com/firstlight/firstlight/internal/world/fabric"
)

// linkLayer is the link layer of a port in the tools' notation.
func linkLayer(h fabric.HCA) string {
	if h.Ethernet.Netdev != "" {
		return "Ethernet"
	}
	return "InfiniBand"
}

// gidEntries is the size of a ConnectX adapter's GID table; the kernel has no type and no network
// device of an unset entry.
const gidEntries = 256

// gid is a set entry of a GID table.
type gid struct{ address, kind string }

// gids are the entries that the kernel sets: the link-local address and each address of the network
// device, as RoCE v1 and v2.
func gids(h fabric.HCA) []gid {
	e := h.Ethernet
	if e.Netdev == "" {
		return nil
	}
	out := bothVersions(netip.AddrFrom16([16]byte{0xfe, 0x80, 8: byte(h.GUID >> 56), 9: byte(h.GUID >> 48), 10: byte(h.GUID >> 40), 11: 0xff, 12: 0xfe, 13: byte(h.GUID >> 16), 14: byte(h.GUID >> 8), 15: byte(h.GUID)}))
	if address, err := netip.ParseAddr(e.Address); err == nil && !e.NoGID {
		out = append(out, bothVersions(address)...)
	}
	return out
}

func bothVersions(address netip.Addr) []gid {
	raw := address.As16()
	var words []string
	for i := 0; i < len(raw); i += 2 {
		words = append(words, fmt.Sprintf("%02x%02x", raw[i], raw[i+1]))
	}
	text := strings.Join(words, ":")
	return []gid{{text, "IB/RoCE v1"}, {text, "RoCE v2"}}
}

// gidFiles lists the GID table of a device's folder.
func (c *call) gidFiles(dir string) ([]string, bool) {
	for _, h := range c.node.HCAs {
		if dir != "/sys/class/infiniband/"+h.Name {
			continue
		}
		var files []string
		for i := range gidEntries {
			files = append(files, fmt.Sprintf("%s/ports/1/gids/%d", dir, i))
		}
		return files, true
	}
	return nil, false
}

// roceFile is an entry of the GID table of an Ethernet port.
func roceFile(h fabric.HCA, name string) (string, bool) {
	if entry, ok := strings.CutPrefix(name, "ports/1/gids/"); ok && h.Ethernet.Netdev != "" {
		i, err := strconv.Atoi(entry)
		if err != nil || i < 0 || i >= gidEntries {
			return "", false
		}
		if table := gids(h); i < len(table) {
			return table[i].address + "\n", true
		}
		return "0000:0000:0000:0000:0000:0000:0000:0000\n", true
	}
	return "", false // the others are in sysfs
}

// roceFiles are the files of an Ethernet port below its device's folder, without the GIDs.
func roceFiles(node world.Node, h fabric.HCA) map[string]string {
	e := h.Ethernet
	if e.Netdev == "" {
		return nil
	}
	files := map[string]string{"device/net/" + e.Netdev + "/operstate": operstate(h) + "\n"}
	for i, g := range gids(h) {
		files[fmt.Sprintf("ports/1/gid_attrs/types/%d", i)] = g.kind + "\n"
		files[fmt.Sprintf("ports/1/gid_attrs/ndevs/%d", i)] = e.Netdev + "\n"
	}
	for name, value := range hwCounters(h) {
		files["ports/1/hw_counters/"+name] = strconv.FormatUint(value, 10) + "\n"
	}
	if node.InboxDrivers {
		return files
	}
	for priority, on := range e.ECN {
		for _, point := range []string{"roce_np", "roce_rp"} {
			files[fmt.Sprintf("device/net/%s/ecn/%s/enable/%d", e.Netdev, point, priority)] = bit(on) + "\n"
		}
	}
	return files
}

func operstate(h fabric.HCA) string {
	if h.PhysState == fabric.PhysLinkUp {
		return "up"
	}
	return "down"
}

func bit(on bool) string {
	if on {
		return "1"
	}
	return "0"
}

// portOf returns the adapter of a network device.
func (c *call) portOf(netdev string) (fabric.HCA, bool) {
	for _, h := range c.node.HCAs {
		if h.Ethernet.Netdev != "" && h.Ethernet.Netdev == netdev {
			return h, true
		}
	}
	return fabric.HCA{}, false
}
