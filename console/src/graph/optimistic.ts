import type { OptimisticMutationConfig } from "@urql/exchange-graphcache";

/** The object of a payload as it will be, as far as that is known before the platform has answered. */
const willBe = (payload: string, typename: string, object: string, fields: object) => ({ __typename: payload, [object]: { __typename: typename, ...fields } });

/** What is shown of a change at once: of switches, which lose nothing, and turn back where the platform refuses. */
export const optimistic: OptimisticMutationConfig = {
  setPermissionDisabled: ({ input }) => {
    const { id, disabled } = input as { id: string; disabled: boolean };
    return willBe("SetPermissionDisabledPayload", "Permission", "permission", { id, disabled });
  },
  updateWebhookDestination: ({ input }) => {
    const { id, ...change } = input as { id: string; enabled?: boolean };
    if (change.enabled === undefined) return null;
    return willBe("UpdateWebhookDestinationPayload", "WebhookDestination", "destination", { id, enabled: change.enabled });
  },
};
