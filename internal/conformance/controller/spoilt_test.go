package controller

import (
	"testing"

	"github.com/firstlight/firstlight/internal/checktest"
)

// TestEveryField: the verdict depends on every field of a healthy operator, except for those
// that are listed here with the reason.
func TestEveryField(t *testing.T) {
	t.Parallel()
	checktest.EveryField(t, "spoilt", newCheck(t).Judge, good().observations(t), checktest.Harmless{
		"it names the subject for the reader":                       {`operators.* .(found|lookedFor): .*`, `definitions.* .served: .*`, `webhook.* .(configuration|failurePolicy|name|service): .*`, `controller.* .(pods.name|pods.phase|service): .*`, `reconcile.* .(name|levels.objects.name|levels.objects.node|conditions.message|conditions.reason|conditions.lastTransitionTime): .*`, `denial.* .why: .*`, `disruption.* .killed: .*`, `api-calls.* .*: .*`},
		"a duplicate adds nothing":                                  {`(definitions|api-calls).* : the first twice`, `(controller|reconcile).* .(pods|conditions|levels.objects): the first twice`},
		"any other UID is a new pod":                                {`controller.* .pods.uid: .*`},
		"one free GPU is enough":                                    {`gpu-usage.*: .*`},
		"the duration is shown; the observer enforces the deadline": {`reconcile.* .(created|deadline|ended): .*`, `disruption.* .at: .*`},
		"the last child has no child":                               {`reconcile.* .levels.objects.uid: another text`},
		"JSON omits zero and false":                                 {`denial.* .admitted: left out`, `disruption.* .ended: left out`},
		"codes from 400 to 499 are denials, and only the prefix of the webhook's message counts": {`denial@invalid .(code|message|reason): .*`, `denial@misshapen .(message|causes): .*`},
	})
}
