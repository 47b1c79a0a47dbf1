import { MantineProvider } from "@mantine/core";
import { Notifications } from "@mantine/notifications";
import { RouterProvider } from "@tanstack/react-router";
import { TextProvider } from "../text";
import { Faulty } from "../ui/Faulty";
import { nonce } from "./nonce";
import { router } from "./router";
import { theme, variables } from "./theme";

/** The console, whatever is shown of it. */
export function Console() {
  return (
    <MantineProvider theme={theme} cssVariablesResolver={variables} defaultColorScheme="auto" getStyleNonce={() => nonce}>
      <TextProvider>
        <Faulty>
          <RouterProvider router={router} />
        </Faulty>
        <Notifications position="bottom-left" />
      </TextProvider>
    </MantineProvider>
  );
}
