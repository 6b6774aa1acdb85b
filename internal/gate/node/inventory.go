package node

import (
	"slices"
	"strings"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/probe/infiniband"
)

// Machine is the inventory of one host, from its last readable nvidia-smi and ibstat.
type Machine struct {
	Host   string    `json:"host"`
	Driver string    `json:"driver,omitempty"`
	GPUs   []Card    `json:"gpus"`
	HCAs   []Adapter `json:"hcas,omitempty"`
}

// Card is one GPU. Serial and VBIOS are empty if the driver reports none.
type Card struct {
	BusID   string `json:"busID"`
	Product string `json:"product"`
	Serial  string `json:"serial,omitempty"`
	UUID    string `json:"uuid"`
	VBIOS   string `json:"vbios,omitempty"`
}

// Adapter is one network adapter.
type Adapter struct {
	Name     string `json:"name"`
	Type     string `json:"type"`
	GUID     string `json:"guid"`
	Firmware string `json:"firmware"`
}

// Components are versions by component: sorted, each once.
type Components map[string][]string

// componentDriver is the component of that name.
const componentDriver = "driver"

func componentVBIOS(product string) string { return "VBIOS of " + product }
func componentFirmware(kind string) string { return "firmware of " + kind }

// Add adds versions, without empty ones.
func (c Components) Add(component string, versions ...string) {
	for _, v := range versions {
		if v != "" && !slices.Contains(c[component], v) {
			c[component] = append(c[component], v)
			slices.Sort(c[component])
		}
	}
}

// Components are the versions of driver, VBIOS by product, and firmware by type of adapter.
func (m Machine) Components() Components {
	out := Components{}
	out.Add(componentDriver, m.Driver)
	for _, g := range m.GPUs {
		out.Add(componentVBIOS(g.Product), g.VBIOS)
	}
	for _, h := range m.HCAs {
		out.Add(componentFirmware(h.Type), h.Firmware)
	}
	return out
}

// Inventory lists the hosts of the gate's observations by name.
func Inventory(obs []check.Observation) []Machine {
	byHost := map[string]*Machine{}
	of := func(o check.Observation) *Machine {
		if byHost[o.Target] == nil {
			byHost[o.Target] = &Machine{Host: o.Target, GPUs: []Card{}}
		}
		return byHost[o.Target]
	}
	for _, kind := range []string{kindBefore, kindAfter} {
		for _, o := range check.OfKind(obs, kind) {
			m := of(o)
			f, err := check.Decode[smiFigures](o)
			if err != nil || f.Log == nil {
				continue
			}
			m.Driver, m.GPUs = f.Log.Driver, make([]Card, 0, len(f.Log.GPUs))
			for _, g := range f.Log.GPUs {
				m.GPUs = append(m.GPUs, Card{BusID: g.BusID, Product: g.Product, Serial: g.Serial, UUID: g.UUID, VBIOS: g.VBIOS})
			}
		}
	}
	for _, o := range check.OfKind(obs, kindHCAs) {
		m := of(o)
		if f, err := check.Decode[hcaFigures](o); err == nil && len(f.HCAs) > 0 {
			m.HCAs = adapters(f.HCAs)
		}
	}
	out := make([]Machine, 0, len(byHost))
	for _, m := range byHost {
		out = append(out, *m)
	}
	slices.SortFunc(out, func(a, b Machine) int { return strings.Compare(a.Host, b.Host) })
	return out
}

func adapters(hcas []infiniband.HCA) []Adapter {
	out := make([]Adapter, 0, len(hcas))
	for _, h := range hcas {
		out = append(out, Adapter{Name: h.Name, Type: h.Type, GUID: h.NodeGUID, Firmware: h.Firmware})
	}
	return out
}
