package redfish

import (
	"math"
	"strings"

	"github.com/firstlight/firstlight/internal/world"
)

const (
	chassis = root + "/Chassis"
	pdus    = root + "/PowerEquipment/RackPDUs"
)

// resources computes one resource; ok is false for an unknown path.
func resources(s world.State, path string) (resource object, ok bool) {
	switch path {
	case root:
		return object{
			"@odata.type": "#ServiceRoot.v1_15_0.ServiceRoot", "Id": "RootService", "Name": "Root Service", "RedfishVersion": "1.18.0",
			"Chassis": link(chassis), "PowerEquipment": link(root + "/PowerEquipment"),
			"SessionService": link(root + "/SessionService"), "Links": object{"Sessions": link(sessions)},
		}, true
	case root + "/SessionService":
		return object{
			"@odata.type": "#SessionService.v1_1_8.SessionService", "Id": "SessionService", "Name": "Session Service",
			"ServiceEnabled": true, "SessionTimeout": 1800, "Sessions": link(sessions),
		}, true
	case sessions:
		return collection("Session", nil), true
	case chassis:
		var members []string
		for _, n := range s.Nodes {
			members = append(members, chassis+"/"+n.Name)
		}
		return collection("Chassis", members), true
	case root + "/PowerEquipment":
		return object{
			"@odata.type": "#PowerEquipment.v1_2_1.PowerEquipment", "Id": "PowerEquipment", "Name": "DCIM Power Equipment",
			"Status": status("Enabled", "OK"), "RackPDUs": link(pdus),
		}, true
	case pdus:
		var members []string
		for _, p := range s.Facility.PDUs {
			members = append(members, pdus+"/"+p.ID)
		}
		return collection("PowerDistribution", members), true
	}
	if rest, found := strings.CutPrefix(path, chassis+"/"); found {
		return chassisResource(s, rest)
	}
	if rest, found := strings.CutPrefix(path, pdus+"/"); found {
		return pduResource(s, rest)
	}
	return nil, false
}

func chassisResource(s world.State, rest string) (object, bool) {
	name, sub, _ := strings.Cut(rest, "/")
	n, ok := s.Node(name)
	if !ok {
		return nil, false
	}
	watts := s.NodeWatts(n)
	power := "On"
	switch {
	case !hasPower(s, n.Rack):
		watts, power = 0, "Off"
	case n.Standby:
		power = "Off"
	}
	self := chassis + "/" + name
	switch sub {
	case "":
		return object{
			"@odata.type": "#Chassis.v1_23_0.Chassis", "Id": name, "Name": name, "ChassisType": "RackMount",
			"PowerState": power, "Status": status("Enabled", "OK"),
			"Location": object{"Placement": object{"Rack": n.Rack}},
			"Power":    link(self + "/Power"), "Thermal": link(self + "/Thermal"),
		}, true
	case "Power":
		return object{
			"@odata.type": "#Power.v1_7_1.Power", "Id": "Power", "Name": "Power",
			"PowerControl": []object{{
				"@odata.id": self + "/Power#/PowerControl/0", "MemberId": "0", "Name": "System Power Control",
				"PowerConsumedWatts": round(watts), "PowerCapacityWatts": n.Hardware.Node.MaxPowerWatts, "Status": status("Enabled", "OK"),
			}},
			"PowerControl@odata.count": 1,
		}, true
	case "Thermal":
		inlet := n.Hardware.Node.InletTemp
		return object{
			"@odata.type": "#Thermal.v1_7_1.Thermal", "Id": "Thermal", "Name": "Thermal",
			"Temperatures": []object{
				temperature(self, 0, "Inlet", "Intake", inlet),
				temperature(self, 1, "Outlet", "Exhaust", inlet+watts/700),
			},
			"Temperatures@odata.count": 2,
		}, true
	}
	return nil, false
}

func pduResource(s world.State, rest string) (object, bool) {
	id, sub, _ := strings.Cut(rest, "/")
	var p world.PDU
	for _, have := range s.Facility.PDUs {
		if have.ID == id {
			p = have
		}
	}
	if p.ID == "" {
		return nil, false
	}
	st, state, volts := status("Enabled", "OK"), "On", 230.0
	if !p.Energised {
		st, state, volts = status("UnavailableOffline", "Critical"), "Off", 0
	}
	self := pdus + "/" + id
	if p.NoMains && strings.HasPrefix(sub, "Mains") {
		return nil, false
	}
	switch sub {
	case "":
		unit := object{
			"@odata.type": "#PowerDistribution.v1_3_2.PowerDistribution", "Id": id, "Name": "Rack " + p.Rack + " feed " + p.Feed,
			"EquipmentType": "RackPDU", "PowerState": state, "Status": st,
			"Outlets": link(self + "/Outlets"), "Metrics": link(self + "/Metrics"),
		}
		if !p.NoMains {
			unit["Mains"] = link(self + "/Mains")
		}
		return unit, true
	case "Metrics":
		return object{
			"@odata.type": "#PowerDistributionMetrics.v1_3_1.PowerDistributionMetrics", "Id": "Metrics", "Name": "Metrics",
			"PowerWatts": object{"Reading": round(p.Watts)},
		}, true
	case "Mains":
		return collection("Circuit", []string{self + "/Mains/AC1"}), true
	case "Mains/AC1":
		return object{
			"@odata.type": "#Circuit.v1_8_0.Circuit", "Id": "AC1", "Name": "Mains AC1", "CircuitType": "Mains", "PowerState": state, "Status": st,
			"Voltage": object{"Reading": volts}, "PowerWatts": object{"Reading": round(p.Watts)},
		}, true
	case "Outlets":
		return collection("Outlet", []string{self + "/Outlets/A1"}), true
	case "Outlets/A1":
		return object{
			"@odata.type": "#Outlet.v1_4_4.Outlet", "Id": "A1", "Name": "Outlet A1", "PowerState": state, "PowerEnabled": p.Energised, "Status": st,
			"Voltage": object{"Reading": volts}, "PowerWatts": object{"Reading": round(p.Watts)},
		}, true
	}
	return nil, false
}

// hasPower reports whether a PDU of a rack has power. A rack without PDUs has power.
func hasPower(s world.State, rack string) bool {
	found := false
	for _, p := range s.Facility.PDUs {
		if p.Rack != rack {
			continue
		}
		if p.Energised {
			return true
		}
		found = true
	}
	return !found
}

func link(path string) object { return object{"@odata.id": path} }

func status(state, health string) object { return object{"State": state, "Health": health} }

func collection(kind string, members []string) object {
	links := []object{}
	for _, m := range members {
		links = append(links, link(m))
	}
	return object{
		"@odata.type": "#" + kind + "Collection." + kind + "Collection", "Name": kind + " Collection",
		"Members": links, "Members@odata.count": len(links),
	}
}

func temperature(self string, member int, name, where string, celsius float64) object {
	return object{
		"@odata.id": self + "/Thermal#/Temperatures/" + string(rune('0'+member)), "MemberId": string(rune('0' + member)),
		"Name": name, "PhysicalContext": where, "ReadingCelsius": round(celsius), "Status": status("Enabled", "OK"),
	}
}

func round(v float64) float64 { return math.Round(v*10) / 10 }
