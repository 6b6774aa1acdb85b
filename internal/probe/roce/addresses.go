package roce

import (
	"errors"
	"fmt"
	"net/netip"

	"github.com/firstlight/firstlight/internal/probe/guard"
)

// Link is a network device of a host.
type Link struct {
	Name string `json:"name"`
	// MTU is in bytes.
	MTU int `json:"mtu"`
	// Addresses are the IP addresses of scope global.
	Addresses []string `json:"addresses,omitempty"`
}

// ParseLinks parses the output of ip -j addr show.
func ParseLinks(out []byte) ([]Link, error) {
	var documents []struct {
		Name      string `json:"ifname"`
		MTU       int    `json:"mtu"`
		Addresses []struct {
			Local string `json:"local"`
			Scope string `json:"scope"`
		} `json:"addr_info"`
	}
	if err := guard.JSON(out, &documents); err != nil {
		return nil, fmt.Errorf("read ip -j addr show: %w", err)
	}
	var links []Link
	for _, d := range documents {
		if d.Name == "" {
			continue // iproute2 prints {} for devices that a filter leaves out
		}
		l := Link{Name: d.Name, MTU: d.MTU}
		for _, a := range d.Addresses {
			if a.Scope != "global" {
				continue
			}
			address, err := netip.ParseAddr(a.Local)
			if err != nil {
				return nil, fmt.Errorf("read ip -j addr show: address of %s: %w", d.Name, err)
			}
			l.Addresses = append(l.Addresses, address.Unmap().String())
		}
		links = append(links, l)
	}
	if len(links) == 0 {
		return nil, errors.New("read ip -j addr show: no network device")
	}
	return links, nil
}
