package roce

import (
	"maps"
	"slices"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/gate/fabric/uniform"
)

const remedyFirmware = "flash one firmware on all adapters of the type (mlxfwmanager, or the server vendor's tool), reset or reboot, then run again: firstlight accept --from fabric"

// judgeFirmware requires the same firmware on all adapters of a type and board.
func judgeFirmware(b *check.Builder, views []view) {
	kinds := map[string][]uniform.Sample{}
	for _, v := range views {
		d, o := v.device, v.host.ids[kindDevices]
		if d.Firmware == "" || d.Type == "" || d.Board == "" {
			b.Unobserved(o.ID, v.name, remedyDevice, "%s shows no firmware, type or board", v.name)
			continue
		}
		kind := d.Type + ", board " + d.Board
		kinds[kind] = append(kinds[kind], uniform.Sample{Adapter: v.name, Value: d.Firmware, Observation: o})
	}
	for _, kind := range slices.Sorted(maps.Keys(kinds)) {
		uniform.Require(b, kinds[kind], "firmware", "adapters of type "+kind, remedyFirmware)
	}
}
