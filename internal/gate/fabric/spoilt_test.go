package fabric_test

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/checktest"
)

// Every field of a healthy fabric is demanded, or this list states why not.
func TestEveryField(t *testing.T) {
	t.Parallel()
	obs := look(t, newSubnet())
	// Tools run side by side: the table needs them in one order.
	slices.SortStableFunc(obs, func(a, b check.Observation) int {
		return cmp.Or(strings.Compare(a.Kind, b.Kind), strings.Compare(a.Target, b.Target))
	})
	for i := range obs {
		obs[i].ID = fmt.Sprintf("%d-%s-%s", i, obs[i].Kind, obs[i].Target)
	}
	checktest.EveryField(t, "spoilt", judge, obs, checktest.Harmless{
		"the last observation of a kind decides": {`(sminfo|ibqueryerrors|ibstat|ibv_devinfo|iblinkinfo|ibdiagnet)@.*: twice`},
		"activity is compared between the first and the last question, and the manager may be another by its priority only": {`sminfo.* .activity: .*`, `sminfo.* .(lid|priority): .*`},
		"it is compared with what it was before the soak: less before is less to lose":                                      {`ibqueryerrors.* .(nodesChecked|portsChecked): .*`},
		"the listed ports are compared whatever their count; one that is missing matters":                                   {`ibqueryerrors.* .badPorts: (left out|0|-1|1|1 less|x0.5)`},
		"a port without errors is not listed, and errors up to the limit are allowed":                                       {`ibqueryerrors.* .ports: .*`, `ibqueryerrors.* .ports.counters: left out`, `ibqueryerrors.* .ports.counters.PortRcvErrors: .*`},
		"a counter of another port is compared with the earlier value of that port":                                         {`ibqueryerrors.* .ports.(guid|node|port): .*`},
		"the gate does not demand it": {`ibstat.* .ports.linkLayer: .*`, `iblinkinfo.* .(lid|port): .*`},
		"it tells only whether the subnet manager is at the port, which may then have another key": {`ibstat.* .ports.baseLID: .*`},
		"adapters of another type or board may have a firmware of their own":                       {`ibstat.* .type: another text`, `ibv_devinfo.* .devices.board: another text`},
		"said twice is not more":                                    {`ibstat.* (.ports)?: the first twice`, `ibv_devinfo.* .(devices|devices.ports|tables): the first twice`, `iblinkinfo.* : the first twice`, `ibdiagnet.* .stages: the first twice`},
		"each link is seen from both of its ends":                   {`iblinkinfo.* : without the last`, `iblinkinfo.* .(guid|node|peerGUID|peer): .*`},
		"faster and wider than asked for":                           {`iblinkinfo.* .(laneGbps|width): (x1000|1 more)`},
		"a stage that the profile does not demand, or its warnings": {`ibdiagnet.* .stages: without the last`, `ibdiagnet.* .stages.(name|warnings): .*`, `ibdiagnet.* .stages.errors: (left out|-1)`},
		"switches and adapters are counted; the sum must exist":     {`ibdiagnet.* .totalNodes: .*`},
	}, checktest.Sample(4))
}
