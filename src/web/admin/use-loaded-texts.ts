import { useTranslation } from 'react-i18next'

/** Loads further texts for a page; returns whether they are there. */
export const useLoadedTexts = (...namespaces: string[]): boolean =>
  useTranslation(namespaces, { useSuspense: false }).ready
