import { createContext, type ReactNode, useContext, useEffect, useMemo, useState } from "react";
import { en, type Text } from "./en";
import { type Format, formatOf } from "./format";

export type { Text };

/** The languages, each by its own name. */
export const languages = { en: "English", de: "Deutsch" } as const;
export type Language = keyof typeof languages;

const kept = "canopy-language";

// English is what is left where another language can't be loaded.
const load: Record<Language, () => Promise<Text>> = {
  en: async () => en,
  de: () => import("./de").then(({ de }) => de),
};

interface Spoken {
  text: Text;
  format: Format;
  language: Language;
  speak: (language: Language) => void;
}

const TextContext = createContext<Spoken | null>(null);

/** Says everything below in the person's language: the one chosen here last, or else the browser's. */
export function TextProvider({ children }: { children: ReactNode }) {
  const [language, speak] = useState(preferred);
  const [loaded, setLoaded] = useState<{ language: Language; text: Text } | null>(language === "en" ? { language, text: en } : null);
  useEffect(() => {
    let over = false;
    load[language]().catch(() => en).then((text) => {
      if (over) return;
      document.documentElement.lang = language;
      setLoaded({ language, text });
    });
    return () => void (over = true);
  }, [language]);
  const spoken = useMemo(() => loaded && {
    ...loaded,
    format: formatOf(loaded.language, loaded.text),
    speak: (next: Language) => {
      localStorage.setItem(kept, next);
      speak(next);
    },
  }, [loaded]);
  return spoken && <TextContext value={spoken}>{children}</TextContext>;
}

function preferred(): Language {
  const wanted = [chosen(), ...navigator.languages].map((tag) => tag.slice(0, 2));
  return wanted.find((tag): tag is Language => tag in languages) ?? "en";
}

/** The language chosen here last. A page inside another may be refused what is kept. */
function chosen(): string {
  try {
    return localStorage.getItem(kept) ?? "";
  } catch {
    return "";
  }
}

/** Everything that the console says, in each language: for who looks for something by a name of another one. Only the present one, as long as the others are loaded. */
export function useEveryText(): readonly Text[] {
  const { text } = useText();
  const [loaded, setLoaded] = useState<readonly Text[]>([text]);
  useEffect(() => {
    let over = false;
    Promise.all(Object.values(load).map((one) => one().catch(() => en))).then((all) => void (over || setLoaded(all)));
    return () => void (over = true);
  }, []);
  return loaded;
}

/** What the console says, how it writes numbers and times, and in which language. */
export function useText(): Spoken {
  const spoken = useContext(TextContext);
  if (!spoken) throw new Error("useText is for what is inside the provider");
  return spoken;
}
