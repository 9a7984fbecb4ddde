/** The name of a browser and its system, from the field User-Agent that it sends. */
import { settingsText } from "./text";

/** The first that is found: Edge also says Chrome, and Chrome also says Safari. */
const BROWSERS = [
  [/Edg\/(\d+)/, "Edge"],
  [/Firefox\/(\d+)/, "Firefox"],
  [/Chrome\/(\d+)/, "Chrome"],
  [/Version\/(\d+).*Safari/, "Safari"],
] as const;

const SYSTEMS = [
  [/iPhone|iPad/, "iOS"],
  [/Android/, "Android"],
  [/Windows/, "Windows"],
  [/Mac OS X/, "macOS"],
  [/Linux/, "Linux"],
] as const;

/** `Chrome 156 on Linux`; what it sent, where that names none of them. */
export function browserName(userAgent: string): string {
  const found = BROWSERS.flatMap(([pattern, name]) => {
    const version = pattern.exec(userAgent)?.[1];
    return version ? [`${name} ${version}`] : [];
  })[0];
  const system = SYSTEMS.find(([pattern]) => pattern.test(userAgent))?.[1];
  return found && system ? settingsText.browserOn(found, system) : userAgent;
}
