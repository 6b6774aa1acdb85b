package fabric_test

import (
	"testing"

	"github.com/firstlight/firstlight/internal/checktest"
)

// TestRules covers the requirements on a fabric, one field at a time.
func TestRules(t *testing.T) {
	t.Parallel()
	checktest.Rules(t, judge, look(t, newSubnet()), []checktest.Rule{
		checktest.When("ibdiagnet counts all nodes", checktest.Set("ibdiagnet", `.totalNodes`, checktest.LeftOut)).Unobserved("ibdiagnet", "no fabric summary"),
		checktest.When("ibdiagnet counts the switches", checktest.Set("ibdiagnet", `.switches`, checktest.LeftOut)).Unobserved("ibdiagnet", "no fabric summary"),
		checktest.When("ibdiagnet counts the adapters", checktest.Set("ibdiagnet", `.channelAdapters`, checktest.LeftOut)).Unobserved("ibdiagnet", "no fabric summary"),
		checktest.When("a switch too few is missing", checktest.Set("ibdiagnet", `.switches`, 2)).Fails("fabric", "2 switches and 4 adapters, the site expects 3 and 4"),
		checktest.When("a switch too many is foreign", checktest.Set("ibdiagnet", `.switches`, 4)).Fails("fabric", "4 switches and 4 adapters"),
		// an adapter without a board or type was compared with itself: any firmware passed
		checktest.When("a board is known where others are", checktest.Set("ibv_devinfo@gpu-01", `.devices[0].board`, "")).Unobserved("gpu-01/mlx5_0", "shows no board"),
		checktest.When("unknown boards make no difference", checktest.Set("ibv_devinfo", `.devices[*].board`, "")).Passes(),
		checktest.When("one type with unknown boards", checktest.Set("ibv_devinfo", `.devices[*].board`, ""), checktest.Set("ibstat@gpu-01", `[0].firmware`, "28.38.1002")).Fails("gpu-01/mlx5_0", "firmware 28.38.1002"),
		checktest.When("a type is known", checktest.Set("ibstat@gpu-01", `[0].type`, "")).Unobserved("gpu-01/mlx5_0", "no firmware or type"),
		checktest.When("an adapter shows its GUID", checktest.Set("ibstat@gpu-01", `[0].nodeGUID`, "0x0000000000000000")).Unobserved("gpu-01/mlx5_0", "shows no GUID"),
		checktest.When("adapters without a GUID are not the same adapter", checktest.Set("ibstat", `[0].nodeGUID`, "0x0000000000000000")).Unobserved("gpu-01/mlx5_0", "shows no GUID"),
		checktest.When("a port shows its GUID", checktest.Set("ibstat@gpu-01", `[0].ports[0].portGUID`, "")).Unobserved("gpu-01/mlx5_0", "shows no GUID"),
		checktest.When("another port's GUID is not that of the fabric's port", checktest.Set("ibstat@gpu-01", `[0].ports[0]`, checktest.Twice),
			checktest.Set("ibstat@gpu-01", `[0].ports[0].portGUID`, ""), checktest.Set("ibstat@gpu-01", `[0].ports[1].number`, 2)).Unobserved("gpu-01/mlx5_0", "shows no GUID"),
		// port 2 of an adapter was judged, too, though fabric.hcas are their port 1
		checktest.When("an idle second port", secondPort(`.state`, "Down", checktest.Set("ibstat@gpu-01", `[0].ports[1].physicalState`, "Polling"))...).Passes(),
		checktest.When("a second port that no subnet manager has configured", secondPort(`.state`, "Initializing")...).Passes(),
		checktest.When("a second port at another rate", secondPort(`.rateGbps`, 10)...).Passes(),
		checktest.When("a second port on another subnet", secondPort(`.smLID`, 9)...).Passes(),
		checktest.When("a second port does not stand in for the first", secondPort(`.number`, 2, checktest.Set("ibstat@gpu-01", `[0].ports[0].state`, "Down"))...).Fails("gpu-01/mlx5_0", "port 1 of gpu-01/mlx5_0 is Down"),
		// MTU and keys of an adapter without port 1 were not judged
		checktest.When("the fabric's port has another number", checktest.Set("ibstat@gpu-01", `[0].ports[0].number`, 2)).Unobserved("gpu-01/mlx5_0", "has no port 1"),
	})
}

// secondPort adds a port to an adapter that differs from the first in one field.
func secondPort(field string, value any, more ...checktest.Change) []checktest.Change {
	return append([]checktest.Change{
		checktest.Set("ibstat@gpu-01", `[0].ports[0]`, checktest.Twice),
		checktest.Set("ibstat@gpu-01", `[0].ports[1].number`, 2),
		checktest.Set("ibstat@gpu-01", `[0].ports[1].portGUID`, "0x00000000000000cc"),
		checktest.Set("ibstat@gpu-01", `[0].ports[1]`+field, value),
	}, more...)
}
