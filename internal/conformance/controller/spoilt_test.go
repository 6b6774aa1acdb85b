package controller

import (
	"testing"

	"github.com/firstlight/firstlight/internal/checktest"
)

// Every field of an operator that is well is demanded, or it is said here why not.
func TestEveryField(t *testing.T) {
	t.Parallel()
	checktest.EveryField(t, "spoilt", newCheck(t).Judge, good().observations(t), checktest.Harmless{
		"it names what is looked at, for people":                                                   {`operators.* .(found|lookedFor): .*`, `definitions.* .served: .*`, `webhook.* .(configuration|failurePolicy|name|service): .*`, `controller.* .(pods.name|pods.phase|service): .*`, `reconcile.* .(name|levels.objects.name|levels.objects.node|conditions.message|conditions.reason|conditions.lastTransitionTime): .*`, `denial.* .why: .*`, `disruption.* .killed: .*`, `api-calls.* .*: .*`},
		"said twice is not more":                                                                   {`(definitions|api-calls).* : the first twice`, `(controller|reconcile).* .(pods|conditions|levels.objects): the first twice`},
		"another pod than before is another, whatever its UID":                                     {`controller.* .pods.uid: .*`},
		"one free GPU is enough":                                                                   {`gpu-usage.*: .*`},
		"how long it took is shown; the deadline is the observer's":                                {`reconcile.* .(created|deadlineNanoseconds|ended): .*`, `disruption.* .at: .*`},
		"the last child has no child":                                                              {`reconcile.* .levels.objects.uid: another text`},
		"zero and false are what is left out in JSON":                                              {`denial.* .admitted: left out`, `disruption.* .ended: left out`},
		"codes from 400 to 499 are denials, and the webhook's message goes on after its beginning": {`denial@invalid .(code|message|reason): .*`, `denial@misshapen .(message|causes): .*`},
	})
}
