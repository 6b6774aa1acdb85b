package nccl

import (
	"regexp"
	"slices"
	"strings"
)

var (
	netUsing = regexp.MustCompile(`^NET/(\w+)\s*: Using (.*)$`)
	// hcaEntry matches "[0]mlx5_0:1/IB" and, of 2.19 to 2.22, a device of several ports, which merged splits:
	// "[0]={[0] mlx5_0:1/RoCE, [1] mlx5_1:1/RoCE}".
	hcaEntry  = regexp.MustCompile(`\[(\d+)\](?:=\{([^{}]*)\}|([^\s:\[\]=]+):(\d+)/(\S+))`)
	merged    = regexp.MustCompile(`\[\d+\] ?([^\s:\[\]]+):(\d+)/([^\s,]+)`)
	p2pPlugin = regexp.MustCompile(`^P2P plugin (?:v\d+ )?(\S+)`)
	ifEntry   = regexp.MustCompile(`\[\d+\]([^\s:\[\]]+):`)
	gdrOf     = regexp.MustCompile(`GPU Direct RDMA (Enabled|Disabled) for (?:GPU \S+ / )?HCA (\d+)(?: '([^']+)')?`)
	provider  = regexp.MustCompile(`^NET/OFI Selected [Pp]rovider is ([^\s,]+)`)
	usingName = regexp.MustCompile(`^(?:Using network|Initialized NET plugin) (.+)$`)
)

// dataDirect ends the name that NCCL gives to the Data Direct function of an adapter (ConnectX-8), which is not a device
// of its own: "rocep161s0_dma" of rocep161s0.
const dataDirect = "_dma"

// hcaList is a list of devices that processes of a host printed.
type hcaList struct {
	hcas []HCA
	// count is the number of lines with it; whole: one of them had its end.
	count int
	whole bool
}

type hostLines struct {
	hcas      []hcaList
	networks  []string
	noDevice  bool
	sockets   []string
	plugins   []string
	providers []string
	gdrOff    []string
	settings  []string
}

// network parses a line about the network devices of the host.
func (h *hostLines) network(text string) {
	if m := netUsing.FindStringSubmatch(text); m != nil {
		list, _, whole := strings.Cut(m[2], "; OOB")
		switch m[1] {
		case "Socket", "FastSocket":
			for _, i := range ifEntry.FindAllStringSubmatch(list, maxList) {
				h.sockets = add(h.sockets, i[1])
			}
		default:
			h.devices(list, whole)
		}
		return
	}
	if m := provider.FindStringSubmatch(text); m != nil {
		h.providers = add(h.providers, m[1])
		return
	}
	if strings.HasPrefix(text, "NET/IB") && strings.Contains(text, "No device found") {
		h.noDevice = true
		return
	}
	if m := gdrOf.FindStringSubmatch(text); m != nil && m[1] == "Disabled" {
		name := m[3]
		if name == "" {
			name = "HCA " + m[2]
		}
		h.gdrOff = add(h.gdrOff, name)
	}
}

// devices adds a "Using" list unless another process of the host printed the same list.
func (h *hostLines) devices(list string, whole bool) {
	var hcas []HCA
	for _, m := range hcaEntry.FindAllStringSubmatch(list, maxList) {
		ports := [][]string{m[2:]}
		if m[2] != "" {
			ports = merged.FindAllStringSubmatch(m[2], maxList)
		}
		for _, p := range ports {
			hcas = append(hcas, HCA{Index: number(m[1]), Name: strings.Clone(strings.TrimSuffix(p[1], dataDirect)), Port: number(p[2]), Layer: strings.Clone(p[3])})
		}
	}
	if hcas == nil {
		return
	}
	for i := range h.hcas {
		if have := &h.hcas[i]; slices.Equal(have.hcas, hcas) {
			have.count++
			have.whole = have.whole || whole
			return
		}
	}
	if len(h.hcas) < maxList {
		h.hcas = append(h.hcas, hcaList{hcas: hcas, count: 1, whole: whole})
	}
}

// lists are the distinct lists. Where lines of the log are cut, a list that was printed once or without its end may be
// made of two lines, and counts only if the host has no other one.
func (h *hostLines) lists(cut bool) [][]HCA {
	sure := func(l hcaList) bool { return !cut || (l.whole && l.count > 1) }
	some := slices.ContainsFunc(h.hcas, sure)
	var out [][]HCA
	for _, l := range h.hcas {
		if sure(l) || !some {
			out = append(out, l.hcas)
		}
	}
	return out
}

func (h *hostLines) using(text string) {
	if m := p2pPlugin.FindStringSubmatch(text); m != nil {
		h.plugins = add(h.plugins, m[1])
		return
	}
	if m := usingName.FindStringSubmatch(text); m != nil {
		h.networks = add(h.networks, strings.TrimSpace(m[1]))
	}
}
