package host

import (
	"fmt"
	"strings"

	"github.com/firstlight/firstlight/internal/world/fabric"
)

// mlnxQoS supports -i NETDEV, as NVIDIA/Mellanox mlnx-tools print it.
func mlnxQoS(c *call) int {
	if len(c.args) != 2 || c.args[0] != "-i" {
		c.printf("Interface name is required\nUsage: mlnx_qos -i <interface> [options]\n\n")
		return 1
	}
	h, ok := c.portOf(c.args[1])
	if !ok {
		c.printf("No such device\n")
		return 1
	}
	e := h.Ethernet
	c.printf("DCBX mode: OS controlled\n")
	c.printf("Priority trust state: %s\n", map[bool]string{true: "dscp", false: "pcp"}[e.TrustDSCP])
	if e.TrustDSCP {
		c.printf("dscp2prio mapping:\n")
		for p := range fabric.Priorities {
			c.printf("\tprio:%d dscp:", p)
			for dscp := 8*p + 7; dscp >= 8*p; dscp-- {
				c.printf("%02d,", dscp)
			}
			c.printf("\n")
		}
	}
	c.printf("default priority:\n")
	c.printf("Receive buffer size (bytes): 19872,243072,0,0,0,0,0,0,total_size=262144\n")
	c.printf("Cable len: 7\n")
	c.printf("PFC configuration:\n")
	c.printf("\tpriority    0   1   2   3   4   5   6   7\n")
	for _, row := range []string{"enabled", "buffer"} {
		c.printf("\t%-12s", row)
		for _, on := range e.PFC {
			c.printf("%s   ", bit(on))
		}
		c.printf("\n")
	}
	for _, tc := range []int{1, 0, 2, 3, 4, 5, 6, 7} {
		c.printf("tc: %d ratelimit: unlimited, tsa: vendor\n\t priority:  %d\n", tc, tc)
	}
	return 0
}

// dcb supports -j pfc show dev NETDEV and -j app show dev NETDEV of iproute2.
func dcb(c *call) int {
	if len(c.args) != 5 || c.args[0] != "-j" || c.args[2] != "show" || c.args[3] != "dev" {
		c.errorf("Usage: dcb [ OPTIONS ] OBJECT { COMMAND | help }\n")
		return 255
	}
	h, ok := c.portOf(c.args[4])
	if !ok {
		c.errorf("Attribute read: No such device\n")
		return 1
	}
	switch e := h.Ethernet; c.args[1] {
	case "pfc":
		var states []string
		for _, on := range e.PFC {
			states = append(states, fmt.Sprint(on))
		}
		c.printf(`{"pfc_cap":8,"macsec_bypass":false,"delay":7,"prio_pfc":[%s]}`+"\n", strings.Join(states, ","))
	case "app":
		var pairs []string
		for dscp := range 8 * fabric.Priorities {
			if e.TrustDSCP {
				pairs = append(pairs, fmt.Sprintf("[%d,%d]", dscp, dscp/8))
			}
		}
		if len(pairs) == 0 {
			c.printf("{}\n")
			return 0
		}
		c.printf(`{"dscp_prio":[%s]}`+"\n", strings.Join(pairs, ","))
	default:
		c.errorf("Object \"%s\" is unknown, try \"dcb help\".\n", c.args[1])
		return 255
	}
	return 0
}

// ipAddr supports ip -j addr show.
func ipAddr(c *call) int {
	if strings.Join(c.args, " ") != "-j addr show" {
		c.errorf("Object is unknown, try \"ip help\".\n")
		return 255
	}
	const forever = `"valid_life_time":4294967295,"preferred_life_time":4294967295`
	const device = `{"ifindex":%d,"ifname":"%s","flags":[%s],"mtu":%d,"qdisc":"%s","operstate":"%s","group":"default","txqlen":1000,"link_type":"%s",`
	var links []string
	links = append(links, fmt.Sprintf(device, 1, "lo", `"LOOPBACK","UP","LOWER_UP"`, 65536, "noqueue", "UNKNOWN", "loopback")+
		`"address":"00:00:00:00:00:00","broadcast":"00:00:00:00:00:00","addr_info":[{"family":"inet","local":"127.0.0.1","prefixlen":8,"scope":"host","label":"lo",`+forever+`}]}`)
	for i, h := range c.node.HCAs {
		e := h.Ethernet
		if e.Netdev == "" {
			continue
		}
		flags := `"BROADCAST","MULTICAST","UP","LOWER_UP"`
		if operstate(h) != "up" {
			flags = `"NO-CARRIER","BROADCAST","MULTICAST","UP"`
		}
		links = append(links, fmt.Sprintf(device, i+3, e.Netdev, flags, e.MTU, "mq", strings.ToUpper(operstate(h)), "ether")+
			fmt.Sprintf(`"address":"%02x:%02x:%02x:%02x:%02x:%02x","broadcast":"ff:ff:ff:ff:ff:ff","addr_info":[{"family":"inet","local":"%s","prefixlen":16,"broadcast":"10.%d.255.255","scope":"global","label":"%s",%s}]}`,
				byte(h.GUID>>56), byte(h.GUID>>48), byte(h.GUID>>40), byte(h.GUID>>16), byte(h.GUID>>8), byte(h.GUID), e.Address, 100+h.Rail, e.Netdev, forever))
	}
	c.printf("[%s]\n", strings.Join(links, ","))
	return 0
}
